/**
 * A workplace for engine tests: engines over one record that come and go. The suites of the contract
 * see no more of it than this, so that every engine can run them; each has a file that opens its own
 * (`local-bench.ts`).
 */

import { setImmediate } from "node:timers/promises";
import type { Failure } from "../../src/base/failure.ts";
import type { Json } from "../../src/base/json.ts";
import type { Engine, RecordReader, RunOutcome } from "../../src/engine/engine.ts";
import type { LoggedEvent, RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";
import { untilTrue } from "../patience.ts";
import type { ManualClock } from "./manual-clock.ts";

export interface Bench {
  readonly clock: ManualClock;
  /** What is written of runs, as somebody sees it who runs nothing. */
  readonly record: RecordReader;
  /** An engine that takes all others for dead, unless it is told otherwise. */
  engine(options?: BenchEngineOptions): CrashingEngine;
  /** How many finished steps of a run are in its journal. */
  countSteps(id: string): Promise<number>;
  /** How many tokens are booked on a key. */
  readBooked(keyId: string): Promise<number>;
  /** Stops what has not crashed. */
  close(): Promise<void>;
}

export type OpenBench = () => Promise<Bench>;

/** Tests on a bench of their own, which is closed however they end: what stays open keeps the process. */
export function onBenches<One extends Bench>(
  open: () => Promise<One>,
): (test: (bench: One) => Promise<void>) => () => Promise<void> {
  return (test) => async () => {
    const bench = await open();
    try {
      await test(bench);
    } finally {
      await bench.close();
    }
  };
}

export interface BenchEngineOptions {
  readonly workerId?: string | undefined;
  /** Whether another owner lives; the engine finds out by itself where this is given and undefined. */
  readonly isAlive?: ((worker: { readonly id: string }) => boolean) | undefined;
  readonly faults?: Faults | undefined;
}

/** What goes wrong between an engine and what it keeps. */
export interface Faults {
  /** Events are written later than everything else. */
  readonly slowLog?: boolean | undefined;
  /** The process hangs right after it has taken a message. */
  readonly hangsTaking?: boolean | undefined;
  /** Why an ending cannot be written; undefined where it can. */
  readonly refuseEnding?: (() => Failure | undefined) | undefined;
}

export interface CrashingEngine extends Engine {
  /** From here on nothing of it is written or read, as if its process had been killed. */
  crash(): void;
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Lets everything that can go on do so, until the claim holds. */
export async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  await untilTrue(claim, "what the test claims");
}

/** Questions to a record that is somewhere else and have no answer yet: those who ask go on with it. */
export const asked = { count: 0 };

/** Lets everything go on that can, when nothing tells when it is done. */
export async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 100; quiet++) {
    await setImmediate();
    if (asked.count > 0) quiet = 0;
  }
}

export function completed(result: Json): RunOutcome {
  const end: RunEnd = {
    type: "run_end",
    ending: "completed",
    message: "",
    output_text: "",
    output_json: null,
    error: null,
    turns: 0,
    tool_calls: 0,
    usage: NO_USAGE,
    cost_usd: null,
    spent: {},
    at_ms: 0,
  };
  return { ending: "completed", result, events: [end] };
}

export function notice(message: string): RunEvent {
  return { type: "notice", code: "wait", message };
}

/** The log as short texts: a notice's message, else the event's type. */
export function toTexts(events: readonly LoggedEvent[]): string[] {
  return events.map(({ event }) => (event.type === "notice" ? event.message : event.type));
}

export async function readAll(engine: Engine, id: string, after = -1): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const batch of engine.follow(id, after)) found.push(...batch);
  return found;
}
