/**
 * Whether this process can be sure, without asking, that no other process has taken its runs over. Others wait for
 * `LEASE_MS` after its last beat. A process that was stopped, or whose machine slept, finds out here that it was
 * silent for longer, before it does anything outside the record: the record refuses its writes, but a model or a tool
 * cannot.
 *
 * A term is a time in which every beat came soon enough after the one before. For a run that it has had since an
 * earlier term, a process asks the record whether it still has it.
 */

import type { Clock } from "../base/clock.ts";
import { LEASE_MS } from "../store/ownership.ts";

/** Half of it, so that what is begun now is sent before others take over: a beat is due each second. */
const SURE_MS = LEASE_MS / 2;

/** Two clocks: the monotonic one stands still while the machine sleeps, and the wall clock may be set back. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export interface Lease {
  now(): Moment;
  /** Called when a beat that was sent at this moment is in the record. True if the one before it was too long ago. */
  renewed(sent: Moment): boolean;
  readonly isSure: boolean;
  /** Grows with each gap between two beats. */
  readonly term: number;
}

export function createLease(clock: Clock, monotonicMs: () => number): Lease {
  let last: Moment | undefined;
  let term = 0;
  const now = (): Moment => ({ monotonicMs: monotonicMs(), wallMs: clock.now() });
  const isLate = (before: Moment, { monotonicMs: nowMs, wallMs }: Moment): boolean =>
    Math.max(nowMs - before.monotonicMs, wallMs - before.wallMs) > SURE_MS;
  return {
    now,
    renewed(sent) {
      const isGap = last !== undefined && isLate(last, sent);
      if (isGap) term++;
      last = sent;
      return isGap;
    },
    get isSure() {
      return last !== undefined && !isLate(last, now());
    },
    get term() {
      return term;
    },
  };
}

/** The time since a process has a run, and whether the run may have been taken over since. */
export interface LeaseTerm {
  /** Calls `check`, which asks the record, if this process was silent for too long since the last call. */
  confirm(check: () => Promise<void>): Promise<void>;
}

interface Renewable {
  readonly lease: Pick<Lease, "isSure" | "term">;
  renew(): Promise<void>;
}

export function createTerm({ lease, renew }: Renewable): LeaseTerm {
  let { term } = lease;
  return {
    async confirm(check) {
      // First the beat: from then on others leave alone what they have not taken by now.
      if (!lease.isSure) await renew();
      const now = lease.term;
      if (now === term) return;
      await check();
      term = now;
    },
  };
}
