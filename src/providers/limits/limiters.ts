/**
 * The limiters of the process: one for each account at each vendor's address. Whoever calls with the
 * same key shares its limits, so runs must share its limiter.
 */

import { createHash } from "node:crypto";
import type { LimitSync, SharedLimiter } from "./limit-sync.ts";
import { createLimiter, type Limiter, type LimiterOptions } from "./limiter.ts";

export interface Limiters {
  /** The limiter of that account; the same one each time. */
  of(account: Account): Limiter;
  /** All that are known now, for people. */
  report?(): readonly Limiter[];
}

export interface Account {
  readonly vendor: string;
  readonly baseUrl: string;
  /** The key, or whatever else names who is charged; only a hash of it is kept. */
  readonly key: string | undefined;
}

/** More accounts than a process has at work; a server that is given keys by its users passes it. */
const MAX_IDLE = 256;

/** With a `sync` their limits are those of all processes that share it. */
export function createLimiters(
  options: Omit<LimiterOptions, "vendor" | "join"> = {},
  sync?: LimitSync,
): Limiters {
  const limiters = new Map<string, Limiter>();
  return {
    of(account) {
      const name = nameOf(account);
      const known = limiters.get(name);
      if (known) return known;
      if (limiters.size >= MAX_IDLE) dropIdle(limiters);
      const join = sync && ((one: SharedLimiter) => sync.join(toHash(name), one));
      const limiter = createLimiter({ ...options, vendor: account.vendor, join });
      limiters.set(name, limiter);
      return limiter;
    },
    report: () => [...limiters.values()],
  };
}

/** What every runtime of this process uses unless it is given others. */
export const processLimiters: Limiters = createLimiters();

/**
 * For a server: its clients come at their own pace, and a thousand open streams are a thousand calls. It
 * still gives way to a vendor that refuses.
 */
export function createServerLimiters(sync?: LimitSync): Limiters {
  return createLimiters({ startLimit: 256, maxLimit: 16_384 }, sync);
}

function nameOf({ vendor, baseUrl, key }: Account): string {
  return `${vendor} ${baseUrl.replace(/\/+$/, "")} ${toHash(key ?? "")}`;
}

function toHash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** An idle limiter that is asked for again begins anew, as in a new process. */
function dropIdle(limiters: Map<string, Limiter>): void {
  for (const [name, { inFlight, waiting, isPaused }] of limiters) {
    if (inFlight === 0 && waiting === 0 && !isPaused) limiters.delete(name);
  }
}
