/** A clock that stands still until a test moves it, so that nothing in a test waits for real time. */

import type { Clock } from "../base/clock.ts";

export interface ManualClock extends Clock {
  /** Moves the time forward. Sleeps that are due end in the order of their times, then of their starts. */
  advance(ms: number): Promise<void>;
  /** How many sleeps are waiting. */
  readonly sleeping: number;
}

interface Sleep {
  readonly dueMs: number;
  readonly wake: () => void;
}

export function createManualClock(startMs = 0): ManualClock {
  let nowMs = startMs;
  const sleeps = new Set<Sleep>();

  function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (ms <= 0) return resolve();
      const onAbort = (): void => {
        sleeps.delete(entry);
        reject(signal?.reason);
      };
      const wake = (): void => {
        sleeps.delete(entry);
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const entry: Sleep = { dueMs: nowMs + ms, wake };
      sleeps.add(entry);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  async function advance(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    for (let next = earliest(sleeps, untilMs); next; next = earliest(sleeps, untilMs)) {
      nowMs = next.dueMs;
      next.wake();
      // The code that slept continues here, and may start the next sleep, before time moves again.
      await settle();
    }
    nowMs = untilMs;
    await settle();
  }

  return {
    now: () => nowMs,
    sleep,
    advance,
    get sleeping() {
      return sleeps.size;
    },
  };
}

function earliest(sleeps: Iterable<Sleep>, untilMs: number): Sleep | undefined {
  let first: Sleep | undefined;
  for (const sleep of sleeps) {
    if (sleep.dueMs <= untilMs && sleep.dueMs < (first?.dueMs ?? Number.POSITIVE_INFINITY)) {
      first = sleep;
    }
  }
  return first;
}

/** Lets every ready promise continue; one turn of the event loop, no time. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
