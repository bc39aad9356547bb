/**
 * How many calls a vendor's account takes at once, as far as anybody knows. It grows while the vendor takes what it is
 * sent, and is halved when it refuses. Several processes may share one limit: each changes its copy at once, says so
 * later (`report`), takes over what holds for all (`adopt`), and uses its part.
 *
 * Nothing here reads a clock or waits.
 */

import type { Demand, LimitStanding, VendorLimit } from "../../store/vendor-limits.ts";
import { toShare } from "./shares.ts";

/** One call is always tried: its answer is the only way to learn that the vendor is well again. */
export const MIN_LIMIT = 1;

/** What is left of the limit after an overload. */
const DECREASE = 0.5;

/** What a process says about its copy. */
export interface LimitNews extends VendorLimit {
  /** The last round of all that it knew of. */
  readonly base: number;
  readonly grown: number;
  readonly maxLimit: number;
}

/** What the processes needed at the last exchange. */
interface Sharing {
  readonly self: string;
  readonly demands: readonly Demand[];
  readonly own: number;
  /** Of all but this one. */
  readonly others: number;
}

export class AdaptiveLimit {
  readonly #max: number;
  /** Grows by fractions; its whole part counts. */
  #limit: number;
  #round = 0;
  #base = 0;
  /** Since the last `adopt`, in this round. */
  #grown = 0;
  /** Undefined where nobody else is known. */
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

  /** A call belongs to the round that it was sent in. */
  get round(): number {
    return this.#round;
  }

  /** Whether a process with so many calls reaches the limit, together with the others. */
  isReached(demand: number): boolean {
    return !this.#sharing || this.#sharing.others + demand >= Math.floor(this.#limit);
  }

  /** Whether a process with so many calls would have a larger part if the others knew of them. */
  isOutgrown(demand: number): boolean {
    const sharing = this.#sharing;
    return !!sharing && this.#share < Math.floor(this.#limit) && demand > 2 * sharing.own;
  }

  /** One more a call until the first overload, then one more for each time the whole limit was taken. */
  grow(): void {
    const step = this.#round === 0 ? 1 : 1 / this.#limit;
    const grown = Math.min(this.#max, this.#limit + step);
    this.#grown += grown - this.#limit;
    this.#limit = grown;
    this.#divide();
  }

  /** Once for all the calls that were sent in the same round. */
  shrink(round: number): void {
    if (round !== this.#round) return;
    this.#round++;
    this.#limit = Math.max(MIN_LIMIT, this.#limit * DECREASE);
    this.#grown = 0;
    this.#divide();
  }

  report(): LimitNews {
    const [limit, round, base, grown] = [this.#limit, this.#round, this.#base, this.#grown];
    return { limit, round, base, grown, maxLimit: this.#max };
  }

  /** `told` is the report that was answered: what happened here since then is kept, where it still means something. */
  adopt(all: VendorLimit & Pick<LimitStanding, "demands">, told: LimitNews, self: string): void {
    this.#sharing = toSharing(all.demands, self);
    this.#base = all.round;
    const isAgreed = all.round === told.round;
    // Where it was refused since then, in the round that all are in, its own is newer, and is told next time.
    if (!isAgreed || this.#round === told.round) {
      this.#grown = isAgreed ? this.#grown - told.grown : 0;
      this.#limit = Math.min(this.#max, all.limit + this.#grown);
      this.#round = all.round;
    }
    this.#divide();
  }

  /** Nobody tells what the others need. */
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
