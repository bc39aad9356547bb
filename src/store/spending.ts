/**
 * The usage of keys, by windows of time, and whether they may use more.
 *
 * `take` checks and books in one transaction, so that two processes cannot both take the last of an allowance. Before
 * a request the price is an estimate: `take` books the estimate, `settle` the difference. What is returned goes to the
 * windows it was taken from; what was more counts now, or a long answer would slip past the limits of the minute it
 * ends in.
 *
 * Long work has a hold, which grows while it runs and ends with what it has used: so the sum of used and held stays
 * within the limits of days and of all time, with any number of processes.
 *
 * What a stored run has used is booked by the store of the same record, with the run's ending (`Store.finish`): in one
 * transaction, so that it is booked once, whichever process ends the run.
 *
 * Every call waits for a record that another process is writing, and rejects with `store_busy` when that takes too
 * long; nothing is written then. One suite tests all implementations (`test/store/spending-contract.ts`).
 */

import type { HeldAmounts, HoldWish, KeyHold } from "./holds.ts";

export interface Spending {
  /** Books the amounts, or returns which limit is exceeded and books nothing. */
  take(
    keyId: string,
    amounts: Partial<Amounts>,
    limits: SpendingLimits,
    nowMs: number,
  ): Promise<ExceededLimit | undefined>;
  /** `delta` is what was used minus what was taken, and may be negative. Ends the hold that it names. */
  settle(keyId: string, delta: Partial<Amounts>, settling: Settling): Promise<void>;
  /**
   * Raises a hold towards the wish, as far as the limits of days and of all time allow. In one transaction: two calls
   * never both get the same amount.
   */
  hold(keyId: string, wish: HoldWish, limits: SpendingLimits, nowMs: number): Promise<HoldAnswer>;
  readHolds(keyId: string): Promise<readonly KeyHold[]>;
  /** Reports that the work of these holds still runs. */
  keepHolds(ids: readonly string[], nowMs: number): Promise<void>;
  /** Holds of all keys without such a report since, by id, a page at a time. */
  listStaleHolds(query: StaleQuery): Promise<readonly string[]>;
  /** Removes those of them without such a report since. The caller knows that their runs have ended. */
  dropHolds(ids: readonly string[], beforeMs: number): Promise<void>;
  /** The key's usage in the present windows. */
  read(keyId: string, nowMs: number): Promise<Readonly<Record<Window, Amounts>>>;
  /** The usage of every key: on the day (UTC) of a moment, or in all. */
  list(dayMs: number | undefined): Promise<readonly KeyAmounts[]>;
  /** Removes the minutes that began before; days and totals stay. */
  prune(beforeMs: number): Promise<void>;
  /** Removes all that a key has used, when the key itself is removed. */
  forget(keyId: string): Promise<void>;
}

export interface Amounts {
  /** Whole numbers, like `tokens`. */
  readonly requests: number;
  readonly tokens: number;
  readonly usd: number;
  /** The tokens without a known price: like free ones, they add nothing to `usd`. */
  readonly unpriced: number;
}

export interface KeyAmounts extends Amounts {
  readonly keyId: string;
}

/** Calendar minutes and days of UTC, and all of time. */
export type Window = "minute" | "day" | "total";

/**
 * The usage of a run, which its key pays for. Passed with the run's ending (`RunFinish.settles`), it is booked then,
 * and never without the ending.
 */
export interface Settlement {
  readonly keyId: string;
  readonly used: Partial<Amounts>;
  /** By the clock of `take` and `hold`: the windows that it counts in. */
  readonly nowMs: number;
}

/** The most in each window; amounts that are left out have no limit. */
export type SpendingLimits = { readonly [Name in Window]?: Partial<Amounts> | undefined };

export interface ExceededLimit {
  readonly window: Window;
  readonly unit: keyof Amounts;
  readonly limit: number;
  readonly used: number;
  /** Until the window ends; undefined if waiting does not help. */
  readonly retryAfterMs: number | undefined;
}

/** One of the limits that apply to holds, at this moment. */
export interface Shortage extends ExceededLimit {
  readonly unit: keyof HeldAmounts;
  /** Reserved for others, which may return it at any time. */
  readonly heldByOthers: number;
}

export interface HoldAnswer {
  /** The hold now, in total; 0 for units without a limit. */
  readonly held: HeldAmounts;
  /** The limits that keep it from more, at the same moment. */
  readonly shortages: readonly Shortage[];
}

export interface StaleQuery {
  readonly beforeMs: number;
  /** The last one of the page before; undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface Settling {
  /** The `nowMs` that `take` was given. */
  readonly takenMs: number;
  readonly nowMs: number;
  readonly holdId?: string | undefined;
}
