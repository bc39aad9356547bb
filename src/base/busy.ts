/** Waiting for a record that another process is writing, without blocking the event loop. */

import { type Clock, systemClock } from "./clock.ts";
import { Failure } from "./failure.ts";

/**
 * How long a writer waits for a lock of another program. Longer than any transaction of Offshoot and than
 * most backups, shorter than the minute after which proxies give up on a request.
 */
export const BUSY_LIMIT_MS = 30_000;

/** Pauses between tries, in milliseconds; the last one is repeated. A commit takes about one. */
const PAUSES_MS = [1, 2, 4, 8, 16, 32];

/**
 * Undoes something after a failure. If that failure was a locked record, it does not wait for the same lock
 * again: the request has had its time, and the next sweep removes what is left.
 */
export async function undoAfter(thrown: unknown, work: () => Promise<unknown>): Promise<void> {
  const undone = work();
  if (isStoreBusy(thrown)) undone.catch(() => {});
  else await undone;
}

function isStoreBusy(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "store_busy";
}

/** Tries `work` again while it throws `Failure("store_busy")`. Throws the last one after `deadlineMs`. */
export async function whenFree<Out>(
  work: () => Out | Promise<Out>,
  clock: Clock = systemClock,
  deadlineMs: number = clock.now() + BUSY_LIMIT_MS,
): Promise<Out> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (thrown) {
      if (!isStoreBusy(thrown) || clock.now() >= deadlineMs) throw thrown;
    }
    await clock.sleep(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0, undefined);
  }
}
