/** The line of those who want to write to a file that another process is writing to. */

import { setImmediate } from "node:timers/promises";
import { BUSY_LIMIT_MS, whenFree } from "../base/busy.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";

/**
 * Does `work` at once where nobody waits and the file is free, else when its turn comes. Nobody
 * overtakes: events of a run come in their order. Rejects with `store_busy` after `BUSY_LIMIT_MS`.
 */
export type WriteLine = <Out>(work: () => Out) => Promise<Out>;

/**
 * After a longer write others have a turn: one that writes megabytes several times over would keep the event
 * loop from all else until it is through, because nothing between its writes is waited for.
 */
const LONG_MS = 10;

export function createWriteLine(clock: Clock): WriteLine {
  /** The last one in the line; undefined where nobody waits. */
  let last: Promise<unknown> | undefined;
  return async (work) => {
    const deadlineMs = clock.now() + BUSY_LIMIT_MS;
    const before = last;
    if (before === undefined) {
      try {
        return await doNow(work);
      } catch (thrown) {
        if (!(thrown instanceof Failure) || thrown.code !== "store_busy") throw thrown;
      }
    }
    const turn = waitFor(before).then(() => whenFree(work, clock, deadlineMs));
    last = turn;
    try {
      return await turn;
    } finally {
      if (last === turn) last = undefined;
    }
  };
}

async function doNow<Out>(work: () => Out): Promise<Out> {
  const startedMs = performance.now();
  const done = work();
  if (performance.now() - startedMs > LONG_MS) await setImmediate();
  return done;
}

/** Whatever became of it. */
async function waitFor(before: Promise<unknown> | undefined): Promise<void> {
  await before?.catch(() => {});
}
