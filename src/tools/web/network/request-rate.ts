/** How often a run may ask the web: a model in a loop does not hammer somebody's server. */

import type { Clock } from "../../../base/clock.ts";
import { Failure } from "../../../base/failure.ts";

export interface RequestRate {
  /** Counts one request; throws `Failure("tool_failed")` when the last minute is full. */
  take(): void;
}

const MINUTE_MS = 60_000;

export function createRequestRate(clock: Clock, perMinute: number): RequestRate {
  /** Times of the last minute, oldest first. */
  const taken: number[] = [];

  return {
    take() {
      const nowMs = clock.now();
      while ((taken[0] ?? nowMs) <= nowMs - MINUTE_MS) taken.shift();
      const [oldest = nowMs] = taken;
      if (taken.length >= perMinute) {
        const waitS = Math.ceil((oldest + MINUTE_MS - nowMs) / 1000);
        const message = `The run has asked the web ${perMinute} times within a minute. Go on in ${waitS} s.`;
        throw new Failure("tool_failed", message);
      }
      taken.push(nowMs);
    },
  };
}
