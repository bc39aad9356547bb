/**
 * Background responses of this process: so many run at once, the others wait in the order they came. How
 * many of a tenant may wait is bounded, so that nobody fills the record with what cannot be done soon.
 */

import { Failure } from "../../base/failure.ts";
import { createTurnstile } from "../../base/turnstile.ts";

export interface BackgroundQueue {
  /** Takes a place among those that wait. Rejects with `rate_limited` where the tenant has too many. */
  admit(tenant: string, runId: string): void;
  /** Resolves when it may run; what it resolves with is called when it has ended. */
  enter(tenant: string, runId: string, signal: AbortSignal): Promise<() => void>;
  /** It does not wait any more, whatever became of it. */
  forget(runId: string): void;
}

export interface BackgroundLimits {
  /** How many run at once. */
  readonly maxBackground: number;
  /** How many of a tenant may wait; any number where it is left out. */
  readonly maxQueued?: number | undefined;
}

/** Nobody knows how long those before it take. */
const RETRY_MS = 5000;

export function createBackgroundQueue(limits: BackgroundLimits): BackgroundQueue {
  const { maxBackground, maxQueued = Number.POSITIVE_INFINITY } = limits;
  const turnstile = createTurnstile(maxBackground);
  /** Those that wait, by their runs, and whose they are. */
  const waiting = new Map<string, string>();

  function countOf(tenant: string): number {
    let count = 0;
    for (const owner of waiting.values()) if (owner === tenant) count++;
    return count;
  }
  return {
    admit(tenant, runId) {
      // Those for whom there is room have not come in yet, and do not wait.
      const room = maxBackground - turnstile.inside;
      if (waiting.size >= room && countOf(tenant) >= maxQueued + room) throw toFull(maxQueued);
      waiting.set(runId, tenant);
    },
    async enter(tenant, runId, signal) {
      // One that another process had left was admitted there.
      if (turnstile.inside < maxBackground) waiting.delete(runId);
      else waiting.set(runId, tenant);
      try {
        return await turnstile.enter(signal);
      } finally {
        waiting.delete(runId);
      }
    },
    forget: (runId) => void waiting.delete(runId),
  };
}

function toFull(maxQueued: number): Failure {
  const message = `${maxQueued} background responses wait already, which is the most. Ask again when some have begun.`;
  return new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
}
