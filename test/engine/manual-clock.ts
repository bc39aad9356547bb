/** A clock that stands still until the test moves it. Sleepers wake in the order of their times. */

import type { Clock } from "../../src/base/clock.ts";

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function createManualClock(start = 1_700_000_000_000): ManualClock {
  let now = start;
  const sleepers = new Set<{ atMs: number; wake: () => void }>();
  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const onAbort = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const wake = (): void => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        };
        const sleeper = { atMs: now + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
    advance(ms) {
      now += ms;
      const due = [...sleepers].filter(({ atMs }) => atMs <= now).sort((a, b) => a.atMs - b.atMs);
      for (const sleeper of due) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}
