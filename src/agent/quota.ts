/**
 * Limits what all children of a run may have together, if that is less than the run has. To the children it is their
 * parent's account: what they reserve and spend is counted here, and paid there.
 */

import type { Account, Hold } from "./account.ts";
import {
  type Amount,
  addAmounts,
  eachKind,
  type LimitKind,
  type Limits,
  mapKinds,
  NOTHING,
} from "./limits.ts";

/** The part of an account that children share and use. */
export type FamilyParent = Pick<
  Account,
  "limits" | "ceiling" | "left" | "hold" | "reach" | "draw" | "gatherAbove"
>;

export class Quota implements FamilyParent {
  readonly #payer: FamilyParent;
  readonly #most: Partial<Amount>;
  /** Spent by children, and reserved for them. */
  #used: Amount = NOTHING;

  constructor(payer: FamilyParent, most: Partial<Amount>) {
    this.#payer = payer;
    this.#most = most;
  }

  get limits(): Limits {
    const { limits } = this.#payer;
    return mapKinds((kind) => this.#toLess(kind, limits[kind]));
  }

  get ceiling(): Limits {
    const { ceiling } = this.#payer;
    return mapKinds((kind) => this.#toLess(kind, ceiling[kind]));
  }

  get left(): Amount {
    const { left } = this.#payer;
    return eachKind((kind) => {
      const most = this.#most[kind];
      return most === undefined ? left[kind] : Math.min(left[kind], most - this.#used[kind]);
    });
  }

  hold(amount: Partial<Amount>): Hold {
    const hold = this.#payer.hold(amount);
    let counted: Amount = NOTHING;
    let isOpen = true;
    const count = (next: Amount): void => {
      if (isOpen) this.#used = eachKind((kind) => this.#used[kind] - counted[kind] + next[kind]);
      counted = next;
    };
    const end = (actual: Partial<Amount>): void => {
      count({ ...NOTHING, ...actual });
      isOpen = false;
    };
    count(hold.most);
    return {
      get most() {
        return hold.most;
      },
      resize(most) {
        hold.resize(most);
        count(hold.most);
      },
      settle(actual) {
        end(actual);
        hold.settle(actual);
      },
      release() {
        end({});
        hold.release();
      },
    };
  }

  /** Counts what children have spent by the journal; their parent's account was charged with it already. */
  charge(actual: Partial<Amount>): void {
    this.#used = addAmounts(this.#used, { ...NOTHING, ...actual });
  }

  reach(least: Partial<Amount>, most: Partial<Amount>): void {
    this.#payer.reach(least, most);
  }

  draw(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<boolean> {
    return this.#payer.draw(least, most, signal);
  }

  gatherAbove(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<void> {
    return this.#payer.gatherAbove(least, most, signal);
  }

  #toLess(kind: LimitKind, limit: number | null): number | null {
    const most = this.#most[kind];
    if (most === undefined || limit === null) return most ?? limit;
    return Math.min(most, limit);
  }
}
