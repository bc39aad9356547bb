/**
 * Children that an earlier owner of a run has begun, and that were not admitted again yet. What they have spent by the
 * record is reserved for all of them before anything else is given or spent: that money is gone.
 */

import type { Hold } from "./account.ts";
import { type Amount, addAmounts, eachKind, NOTHING } from "./limits.ts";
import type { FamilyParent } from "./quota.ts";

export interface FoundChild {
  readonly id: string;
  /** The call that started it. */
  readonly callKey: string;
  /** Spent by the child and by those below it. */
  readonly spent: Amount;
  /** The budget that it was told it may spend, if it continues to spend under any owner of its parent. */
  readonly given?: Amount | undefined;
}

interface Kept {
  readonly child: FoundChild;
  readonly hold: Hold;
}

export class FoundChildren {
  readonly #kept = new Map<string, Kept>();
  /** The children that were admitted again and are counted by themselves. */
  readonly #taken = new Set<string>();
  readonly #parent: () => FamilyParent;

  constructor(parent: () => FamilyParent) {
    this.#parent = parent;
  }

  /** Reserves what they have spent, and their places, even if there is less than that. */
  add(children: readonly FoundChild[]): void {
    for (const child of children) {
      if (this.#kept.has(child.id) || this.#taken.has(child.id)) continue;
      const hold = this.#parent().hold(NOTHING);
      hold.resize(toWhole(toHeld(child)));
      this.#kept.set(child.id, { child, hold });
    }
  }

  has(id: string): boolean {
    return this.#kept.has(id);
  }

  /** Returns what it has spent and was given, and ends the reservation here: the caller lets it in at once. */
  take(id: string): Pick<FoundChild, "spent" | "given"> {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    this.#taken.add(id);
    kept?.hold.release();
    return kept?.child ?? { spent: NOTHING };
  }

  /**
   * The call is over and has not let these children in: what they have spent stays spent. Returns how much that is.
   */
  giveUp(callKey: string): Amount {
    let lost = NOTHING;
    for (const [id, { child, hold }] of this.#kept) {
      if (child.callKey !== callKey) continue;
      this.#kept.delete(id);
      const whole = toWhole(child.spent);
      hold.settle(whole);
      lost = addAmounts(lost, whole);
    }
    return lost;
  }
}

/** The budget that is reserved for the child. */
export function toHeld({ spent, given = NOTHING }: Pick<FoundChild, "spent" | "given">): Amount {
  return eachKind((kind) => Math.max(spent[kind], given[kind]));
}

/** Adds its own place among the runs below its parent. */
function toWhole(amount: Amount): Amount {
  return { ...amount, children: amount.children + 1 };
}
