/**
 * Children that a past owner of a run has begun, and that nobody has let in again yet. What they have
 * spent by the record is set aside for them all before anything else is given or spent: it is gone.
 */

import type { Hold } from "./account.ts";
import { type Amount, addAmounts, eachKind, NOTHING } from "./limits.ts";
import type { FamilyParent } from "./quota.ts";

export interface FoundChild {
  readonly id: string;
  /** The call that had asked for it. */
  readonly callKey: string;
  /** By itself and by those below it. */
  readonly spent: Amount;
  /** What it was told that it may spend, where it spends on by itself whoever its parent's owner is. */
  readonly given?: Amount | undefined;
}

interface Kept {
  readonly child: FoundChild;
  readonly hold: Hold;
}

export class FoundChildren {
  readonly #kept = new Map<string, Kept>();
  /** Those that were let in, and count for themselves. */
  readonly #taken = new Set<string>();
  readonly #parent: () => FamilyParent;

  constructor(parent: () => FamilyParent) {
    this.#parent = parent;
  }

  /** Sets aside what they have spent, and their places, also where there is not so much. */
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

  /** What it has spent and was given, which is no longer set aside here: whoever lets it in does that at once. */
  take(id: string): Pick<FoundChild, "spent" | "given"> {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    this.#taken.add(id);
    kept?.hold.release();
    return kept?.child ?? { spent: NOTHING };
  }

  /** Its call is over and has not let these in: what they have spent stays spent. Returns how much that is. */
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

/** What is set aside for it. */
export function toHeld({ spent, given = NOTHING }: Pick<FoundChild, "spent" | "given">): Amount {
  return eachKind((kind) => Math.max(spent[kind], given[kind]));
}

/** With its own place among the runs below its parent. */
function toWhole(amount: Amount): Amount {
  return { ...amount, children: amount.children + 1 };
}
