/**
 * The learned number of calls that a vendor's account accepts at once. It grows while the vendor accepts
 * calls, and is halved when the vendor refuses. Several processes may share one limit: each changes its
 * copy at once, reports the change later (`report`), takes over the common limit (`adopt`), and uses its
 * share.
 *
 * Nothing here reads a clock or waits.
 */

import type { Demand, LimitStanding, VendorLimit } from "../../store/vendor-limits.ts";
import { toShare } from "./shares.ts";

/**
 * The smallest limit. One call is always tried: only its answer can show that the vendor accepts calls
 * again.
 */
export const MIN_LIMIT = 1;

/** The part of the limit that remains after an overload. */
const DECREASE = 0.5;

/** The report of a process about its copy. */
export interface LimitNews extends VendorLimit {
  /** The last round of the common limit that it knew. */
  readonly base: number;
  readonly grown: number;
  readonly maxLimit: number;
}

/** The demand of the processes at the last exchange. */
interface Sharing {
  readonly self: string;
  readonly demands: readonly Demand[];
  readonly own: number;
  /** The demand of all processes except this one. */
  readonly others: number;
}

export class AdaptiveLimit {
  readonly #max: number;
  /** Grows by fractions; only its whole part is used. */
  #limit: number;
  #round = 0;
  #base = 0;
  /** The growth since the last `adopt`, in this round. */
  #grown = 0;
  /** Undefined if no other process is known. */
  #sharing: Sharing | undefined;
  #share: number;

  constructor(start: number, max: number) {
    this.#limit = start;
    this.#max = max;
    this.#share = Math.floor(start);
  }

  /** How many calls of this process may be in flight. */
  get share(): number {
    return this.#share;
  }

  /** The current round. A call belongs to the round in which it was sent. */
  get round(): number {
    return this.#round;
  }

  /** True if this process, with that many calls, and the others together reach the limit. */
  isReached(demand: number): boolean {
    return !this.#sharing || this.#sharing.others + demand >= Math.floor(this.#limit);
  }

  /** True if a process with that many calls would get a larger share if the others knew about them. */
  isOutgrown(demand: number): boolean {
    const sharing = this.#sharing;
    return !!sharing && this.#share < Math.floor(this.#limit) && demand > 2 * sharing.own;
  }

  /**
   * Grows by one for each call until the first overload, then by one for each time the whole limit was
   * used.
   */
  grow(): void {
    const step = this.#round === 0 ? 1 : 1 / this.#limit;
    const grown = Math.min(this.#max, this.#limit + step);
    this.#grown += grown - this.#limit;
    this.#limit = grown;
    this.#divide();
  }

  /** Shrinks once for all calls of the same round. */
  shrink(round: number): void {
    if (round !== this.#round) return;
    this.#round++;
    this.#limit = Math.max(MIN_LIMIT, this.#limit * DECREASE);
    this.#grown = 0;
    this.#divide();
  }

  report(): LimitNews {
    const limit = this.#limit;
    const round = this.#round;
    const base = this.#base;
    const grown = this.#grown;
    return { limit, round, base, grown, maxLimit: this.#max };
  }

  /**
   * Takes over the common limit. `told` is the report that was answered: changes since then are kept where
   * they still apply.
   */
  adopt(all: VendorLimit & Pick<LimitStanding, "demands">, told: LimitNews, self: string): void {
    this.#sharing = toSharing(all.demands, self);
    this.#base = all.round;
    const isAgreed = all.round === told.round;
    // If a call was refused since then, in the round that all processes are in, this copy is newer, and is
    // reported next time.
    if (!isAgreed || this.#round === told.round) {
      this.#grown = isAgreed ? this.#grown - told.grown : 0;
      this.#limit = Math.min(this.#max, all.limit + this.#grown);
      this.#round = all.round;
    }
    this.#divide();
  }

  /** Uses the whole limit, for a process that does not know what the others need. */
  standAlone(): void {
    this.#sharing = undefined;
    this.#divide();
  }

  #divide(): void {
    const limit = Math.floor(this.#limit);
    const sharing = this.#sharing;
    this.#share = sharing ? toShare(limit, { ...sharing, turn: this.#round }) : limit;
  }
}

function toSharing(demands: readonly Demand[], self: string): Sharing {
  const all = demands.reduce((sum, { calls }) => sum + calls, 0);
  const own = demands.find(({ process }) => process === self)?.calls ?? 0;
  return { self, demands, own, others: all - own };
}
