/** The time that all processes of a record share: what they write down with it, others compare with theirs. */

import type { Clock } from "../base/clock.ts";

export interface RecordClock extends Clock {
  /**
   * By how much the clock of this machine is ahead of it, in milliseconds; left out where it is the clock of this
   * machine.
   */
  readonly machineAheadMs?: number | undefined;
}

/** The error that slow answers of a busy database may cause in measuring a correct clock. */
const TOLERATED_MS = 10_000;

/** A line for the operator; undefined where the clock of this machine is right. */
export function describeClock({ machineAheadMs = 0 }: RecordClock): string | undefined {
  const offMs = Math.abs(machineAheadMs);
  if (offMs <= TOLERATED_MS) return undefined;
  const side = machineAheadMs > 0 ? "ahead of" : "behind";
  return `the clock of this machine is ${toRoughTime(offMs)} ${side} that of the database, which is used instead. Set it (NTP).`;
}

const UNITS = [
  [86_400_000, "days"],
  [3_600_000, "hours"],
  [60_000, "minutes"],
  [1000, "seconds"],
] as const;

function toRoughTime(ms: number): string {
  const [unitMs, name] = UNITS.find(([one]) => ms >= 2 * one) ?? [1000, "seconds"];
  return `${Math.round(ms / unitMs)} ${name}`;
}
