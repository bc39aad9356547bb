/**
 * What keys have used, by windows of time, and whether they may use more.
 *
 * `take` weighs and books in one transaction, so that two processes cannot both take the last of an
 * allowance. Before a request the price is a guess: `take` books the guess, `settle` what it was off
 * by. What is given back goes to the windows it was taken from; what was more counts now, or a long
 * answer would slip past the limits of the minute it ends in.
 *
 * What takes long has a hold, which grows while it goes on and ends with what it has used: so the sum of
 * what is used and held stays within the limits of days and of all time, in however many processes.
 *
 * What a stored run has used is booked by the store of the same record, with the run's ending
 * (`Store.finish`): in one transaction, so that it is booked once, whoever ends the run.
 *
 * Every call waits for a record that another process is writing, and rejects with `store_busy` when that
 * takes too long; nothing is written then. One suite holds for all implementations
 * (`test/store/spending-contract.ts`).
 */

import type { Held, Hold, HoldWish } from "./holds.ts";

export interface Spending {
  /** Books the amounts, or tells which limit is in the way and books nothing. */
  take(
    keyId: string,
    amounts: Partial<Amounts>,
    limits: Limits,
    nowMs: number,
  ): Promise<Excess | undefined>;
  /** `delta` is what was used less what was taken, and may be negative. Ends the hold that it names. */
  settle(keyId: string, delta: Partial<Amounts>, settling: Settling): Promise<void>;
  /**
   * Raises a hold towards what is wished, as far as the limits of days and of all time allow. In one
   * transaction: two who ask are never both given the same.
   */
  hold(keyId: string, wish: HoldWish, limits: Limits, nowMs: number): Promise<HoldAnswer>;
  readHolds(keyId: string): Promise<readonly Hold[]>;
  /** Says that these are still on their way. */
  keepHolds(ids: readonly string[], nowMs: number): Promise<void>;
  /** Holds that nobody has kept since, of all keys, by id, a page at a time. */
  listStaleHolds(query: StaleQuery): Promise<readonly string[]>;
  /** Removes those of them that nobody has kept since. Who asks knows that their runs have ended. */
  dropHolds(ids: readonly string[], beforeMs: number): Promise<void>;
  /** What the key has used in the windows of this moment. */
  read(keyId: string, nowMs: number): Promise<Readonly<Record<Window, Amounts>>>;
  /** What every key has used: on the day (UTC) of a moment, or in all. */
  list(dayMs: number | undefined): Promise<readonly KeyAmounts[]>;
  /** Removes the minutes that began before; days and totals stay. */
  prune(beforeMs: number): Promise<void>;
  /** Removes all that a key has used, when the key itself goes. */
  forget(keyId: string): Promise<void>;
}

export interface Amounts {
  /** Whole, like `tokens`. */
  readonly requests: number;
  readonly tokens: number;
  readonly usd: number;
  /** Of the tokens, those whose price is not known: they add nothing to `usd`, as free ones do. */
  readonly unpriced: number;
}

export interface KeyAmounts extends Amounts {
  readonly keyId: string;
}

/** Calendar minutes and days of UTC, and all of time. */
export type Window = "minute" | "day" | "total";

/**
 * What a run has used, which its key pays for. Given with the run's ending (`RunFinish.settles`), it is
 * booked then, and never without the ending.
 */
export interface Settlement {
  readonly keyId: string;
  readonly used: Partial<Amounts>;
  /** By the clock of `take` and `hold`: the windows that it counts in. */
  readonly nowMs: number;
}

/** At most so much in a window; what is left out has no limit. */
export type Limits = { readonly [Name in Window]?: Partial<Amounts> | undefined };

export interface Excess {
  readonly window: Window;
  readonly unit: keyof Amounts;
  readonly limit: number;
  readonly used: number;
  /** Until the window ends; undefined where waiting does not help. */
  readonly retryAfterMs: number | undefined;
}

/** One of the limits that holds keep to, at this moment. */
export interface Shortage extends Excess {
  readonly unit: keyof Held;
  /** Set aside for others: they may give it back at any time. */
  readonly heldByOthers: number;
}

export interface HoldAnswer {
  /** What the hold is now, all in all; 0 of what has no limit. */
  readonly held: Held;
  /** The limits that keep it from more, as they are at the same moment. */
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
