/**
 * The limit of a vendor's account, as the processes that use the account share it: how many calls may be in flight in
 * all of them together, how long the vendor asks everybody to wait, and how much each process needs.
 *
 * The processes of one machine share it through the one that started them, in memory; those of several machines
 * through their database. Nobody waits for an exchange: each process works by what it knows (`providers/limits`).
 * One suite holds for all implementations (`test/store/vendor-limits-contract.ts`).
 */

export interface VendorLimits {
  /** Tells what a process has learned and needs, one report for each account; gives what holds for all. */
  exchange(process: string, reports: readonly LimitReport[]): Promise<readonly LimitStanding[]>;
}

/** How many calls may be in flight. */
export interface VendorLimit {
  readonly limit: number;
  /** Grows with each decrease: calls that were sent before it say nothing about the limit after it. */
  readonly round: number;
}

/** What a process goes by. It holds for all where nobody has said anything lately. */
export interface LimitReport extends VendorLimit {
  /** A hash; no key is in it. */
  readonly account: string;
  /** Calls in flight and waiting. */
  readonly demand: number;
  /** The round of all that this process builds on: what it says counts only while that is the last one. */
  readonly base: number;
  /** What the limit has grown by in this process, where its round is still the base. */
  readonly grown: number;
  readonly maxLimit: number;
  /** How long the vendor asks everybody to wait from now on; 0 where it has asked for nothing since the last report. */
  readonly pauseMs: number;
}

export interface LimitStanding extends VendorLimit {
  readonly account: string;
  /** What is left of the wait; 0 for none. */
  readonly pauseMs: number;
  /** Which wait it is: another one has another number. */
  readonly pause: number;
  /** Of all processes that were heard of lately, in the order of their ids. */
  readonly demands: readonly Demand[];
}

export interface Demand {
  readonly process: string;
  readonly calls: number;
}

/** A process that was silent for so long needs nothing: it reports each second while it has something to do. */
export const DEMAND_MS = 5000;
/** What was learned of an account that nobody has used for so long is forgotten, as by a new process. */
export const KNOWN_MS = 600_000;

/** The limit after a report: a process that was refused replaces it, one that was not adds to it. */
export function toLimit(known: VendorLimit | undefined, report: LimitReport): VendorLimit {
  const { limit, round, base, grown, maxLimit } = report;
  if (!known) return { limit, round };
  // Others were refused meanwhile: what this process has seen is of the time before.
  if (known.round !== base) return known;
  if (round !== base) return { limit, round };
  return { limit: Math.min(maxLimit, known.limit + grown), round };
}
