/** How long to wait before trying again: exponential with full jitter, and the other side's word first. */

import type { Clock } from "./clock.ts";
import { type Failure, toFailure } from "./failure.ts";

export interface RetryPolicy {
  /** How often to try in all, the first time included. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly maxMs: number;
  /** A longer wait than this, asked for by the other side, is a failure at once. */
  readonly maxRetryAfterMs: number;
}

export const MODEL_RETRY: RetryPolicy = {
  // The waits are 16 seconds together, 32 at most: a vendor's restart or a short outage is over then.
  attempts: 7,
  baseMs: 500,
  maxMs: 20_000,
  // A person waits a minute for a busy model; an hour's wait is theirs to decide.
  maxRetryAfterMs: 60_000,
};

export interface Retrying {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Told before each wait. */
  readonly onRetry: (failure: Failure, waitMs: number, attempt: number) => void;
}

/**
 * Calls `attempt` until it succeeds, fails for good, or the tries are used up. How it is tried again is
 * asked for by the first failure: most calls have none, and pay for nothing of this.
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

/** The wait before the next try, or none when there is to be none. */
function toWaitMs(failure: Failure, tried: number, retrying: Retrying): number | undefined {
  const { policy, random, signal } = retrying;
  if (!failure.retryable || tried >= policy.attempts || signal.aborted) return undefined;
  const asked = failure.retryAfterMs;
  if (asked !== undefined) return asked <= policy.maxRetryAfterMs ? asked : undefined;
  return random() * Math.min(policy.maxMs, policy.baseMs * 2 ** (tried - 1));
}
