/**
 * How long to wait before the next try: exponential with full jitter, unless the other side names a time.
 */

import type { Clock } from "./clock.ts";
import { type Failure, toFailure } from "./failure.ts";

export interface RetryPolicy {
  /** Most tries, including the first. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly maxMs: number;
  /** If the other side asks for a longer wait than this, the call fails at once. */
  readonly maxRetryAfterMs: number;
}

export const MODEL_RETRY: RetryPolicy = {
  // The waits add up to 16 seconds on average, 32 at most: a vendor's restart or a short outage is over
  // then.
  attempts: 7,
  baseMs: 500,
  maxMs: 20_000,
  // A person waits a minute for a busy model; whether to wait an hour is for them to decide.
  maxRetryAfterMs: 60_000,
};

export interface Retrying {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  /** A random number from 0 to 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called before each wait. */
  readonly onRetry: (failure: Failure, waitMs: number, attempt: number) => void;
}

/**
 * Calls `attempt` until it succeeds, fails for good, or the tries are used up. `toRetrying` is called at
 * the first failure only: most calls have none, and pay nothing for this.
 */
export function retry<Out>(attempt: () => Promise<Out>, toRetrying: () => Retrying): Promise<Out> {
  return attempt().catch((thrown: unknown) => retryAfter(thrown, attempt, toRetrying()));
}

async function retryAfter<Out>(
  first: unknown,
  attempt: () => Promise<Out>,
  retrying: Retrying,
): Promise<Out> {
  let thrown = first;
  for (let tried = 1; ; tried++) {
    const failure = toFailure(thrown);
    const waitMs = toWaitMs(failure, tried, retrying);
    if (waitMs === undefined) throw failure;
    retrying.onRetry(failure, waitMs, tried);
    await retrying.clock.sleep(waitMs, retrying.signal);
    try {
      return await attempt();
    } catch (again) {
      thrown = again;
    }
  }
}

/** The wait before the next try; undefined if there is to be none. */
function toWaitMs(failure: Failure, tried: number, retrying: Retrying): number | undefined {
  const { policy, random, signal } = retrying;
  if (!failure.retryable || tried >= policy.attempts || signal.aborted) return undefined;
  const asked = failure.retryAfterMs;
  if (asked !== undefined) return asked <= policy.maxRetryAfterMs ? asked : undefined;
  return random() * Math.min(policy.maxMs, policy.baseMs * 2 ** (tried - 1));
}
