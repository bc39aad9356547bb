/**
 * The limiters of the process: one for each account at each vendor's address. All calls with the same key
 * count against the same limits, so runs must share its limiter.
 */

import { createHash } from "node:crypto";
import type { LimitSync, SharedLimiter } from "./limit-sync.ts";
import { createLimiter, type Limiter, type LimiterOptions } from "./limiter.ts";

export interface Limiters {
  /** The limiter of that account, the same object each time. */
  of(account: LimitedAccount): Limiter;
  /** All limiters that are known now, to show to people. */
  report?(): readonly Limiter[];
}

export interface LimitedAccount {
  readonly vendor: string;
  readonly baseUrl: string;
  /** The key, or another name of the account that pays. Only a hash of it is kept. */
  readonly key: string | undefined;
}

/**
 * The most idle limiters. A process uses fewer accounts; a server whose users bring their own keys may use
 * more.
 */
const MAX_IDLE = 256;

/** With a `sync`, the limits are shared by all processes that use it. */
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

/** The limiters of all runtimes of this process, unless they get their own. */
export const processLimiters: Limiters = createLimiters();

/**
 * Creates the limiters of a server: its clients come at their own pace, and a thousand open streams are a
 * thousand calls. It still slows down when a vendor refuses.
 */
export function createServerLimiters(sync?: LimitSync): Limiters {
  return createLimiters({ startLimit: 256, maxLimit: 16_384 }, sync);
}

function nameOf({ vendor, baseUrl, key }: LimitedAccount): string {
  return `${vendor} ${baseUrl.replace(/\/+$/, "")} ${toHash(key ?? "")}`;
}

function toHash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Drops idle limiters. One that is needed again starts new, as in a new process. */
function dropIdle(limiters: Map<string, Limiter>): void {
  for (const [name, { inFlight, waiting, isPaused }] of limiters) {
    if (inFlight === 0 && waiting === 0 && !isPaused) limiters.delete(name);
  }
}
