/** A run's time limit: by the clock, without uncounted waits. */

import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { OwnedRun } from "./owned-run.ts";
import { abortAll, findBelow } from "./owned-tree.ts";
import type { Uncounted } from "./uncounted-time.ts";

/** Journal key of a run's time limit, so that it holds after a takeover too. */
export const LIMIT_KEY = "@limit_ms";

/** The journal that a run is written down with. */
export function toLimitSteps(limitMs: number | undefined): readonly { key: string; value: Json }[] {
  return limitMs === undefined ? [] : [{ key: LIMIT_KEY, value: limitMs }];
}

/** The longest time a timer can be set to. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Holding {
  readonly limitMs: number;
  readonly clock: Clock;
  /** The runs of this process. */
  readonly runs: ReadonlyMap<string, OwnedRun>;
}

/** Ends the run when its time is up, and all below it. Each owner gives it the whole time again. */
export async function holdToLimit(
  id: string,
  { limitMs, clock, runs }: Holding,
  done: AbortSignal,
): Promise<void> {
  const limit = { limitMs, clock, uncounted: () => runs.get(id)?.uncounted };
  if (!(await isTimeUp(limit, done))) return;
  const message = `The run's time limit of ${limitMs / 1000} s passed.`;
  runs.get(id)?.abort(new Failure("timeout", message));
  const above = new Failure("cancelled", "The time limit of the parent run passed.");
  abortAll(findBelow(runs, id), above);
}

interface Limit {
  readonly limitMs: number;
  readonly clock: Clock;
  readonly uncounted: () => Uncounted | undefined;
}

/** Waits for the end of the time; false when `done` aborts before. */
async function isTimeUp(limit: Limit, done: AbortSignal): Promise<boolean> {
  const { limitMs, clock, uncounted } = limit;
  const startMs = clock.now();
  const leftMs = (): number => {
    const nowMs = clock.now();
    return startMs + limitMs + (uncounted()?.until(nowMs) ?? 0) - nowMs;
  };
  try {
    for (let ms = limitMs; ms > 0; ms = leftMs())
      await clock.sleep(Math.min(ms, MAX_TIMER_MS), done);
    return true;
  } catch {
    return false;
  }
}
