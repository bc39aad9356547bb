/**
 * The limit of a vendor's account, as the processes that use the account share it: how many calls may be in flight in
 * all of them together, how long the vendor asks all to wait, and how much each process needs.
 *
 * The processes of one machine share it through the one that started them, in memory; those of several machines
 * through their database. No call waits for an exchange: each process works by what it knows (`providers/limits`). One
 * suite tests all implementations (`test/store/vendor-limits-contract.ts`).
 */

export interface VendorLimits {
  /** Reports what a process has learned and needs, one report for each account; returns the shared state. */
  exchange(process: string, reports: readonly LimitReport[]): Promise<readonly LimitStanding[]>;
}

/** How many calls may be in flight. */
export interface VendorLimit {
  readonly limit: number;
  /** Grows with each decrease: calls that were sent before it say nothing about the limit after it. */
  readonly round: number;
}

/** The limit that a process works with. It becomes the shared one if no process has reported lately. */
export interface LimitReport extends VendorLimit {
  /** A hash; it does not contain the key. */
  readonly account: string;
  /** Calls in flight and waiting. */
  readonly demand: number;
  /** The shared round that this report is based on: the report counts only while that is the last one. */
  readonly base: number;
  /** How much the limit has grown in this process, if its round is still the base. */
  readonly grown: number;
  readonly maxLimit: number;
  /**
   * How long the vendor asks all processes to wait from now on; 0 if it has asked for nothing since the last report.
   */
  readonly pauseMs: number;
}

export interface LimitStanding extends VendorLimit {
  readonly account: string;
  /** The rest of the wait; 0 for none. */
  readonly pauseMs: number;
  /** The number of the wait: another wait has another number. */
  readonly pause: number;
  /** The demands of all processes that reported lately, in the order of their ids. */
  readonly demands: readonly Demand[];
}

export interface Demand {
  readonly process: string;
  readonly calls: number;
}

/** A process that was silent for this long needs nothing: it reports each second while it has work. */
export const DEMAND_MS = 5000;
/** The learned limit of an account is forgotten after this time without use, as in a new process. */
export const KNOWN_MS = 600_000;

/** The limit after a report: a process that was refused replaces it, one that was not adds to it. */
export function toLimit(known: VendorLimit | undefined, report: LimitReport): VendorLimit {
  const { limit, round, base, grown, maxLimit } = report;
  if (!known) return { limit, round };
  // Others were refused meanwhile: this process has seen an earlier state.
  if (known.round !== base) return known;
  if (round !== base) return { limit, round };
  return { limit: Math.min(maxLimit, known.limit + grown), round };
}
