/** A run's time: by the clock, but for what is not counted. */

import type { Clock } from "../base/clock.ts";
import type { Uncounted } from "./uncounted.ts";

/** The longest time a timer can be set to. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Limit {
  readonly limitMs: number;
  readonly clock: Clock;
  readonly uncounted: () => Uncounted | undefined;
}

/** Waits for the end of the time; false when `done` aborts before. */
export async function isTimeUp(limit: Limit, done: AbortSignal): Promise<boolean> {
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
