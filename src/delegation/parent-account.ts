/**
 * The account of a run whose parent is in another process: what its parent gave it when it started, and more when it
 * needs more. The parent is asked before a call that the budget does not cover, and delays its answer while another
 * child may still return something.
 */

import { type Account, createAccount, type Purse } from "../agent/account.ts";
import { type Amount, KINDS, type Limits, mapKinds } from "../agent/limits.ts";
import { explainShare } from "../agent/share.ts";
import type { TopUpAsk } from "./top-up.ts";

/** The way to the parent: over a line (`runner/line-budget.ts`) or by messages (`placed/asked-budget.ts`). */
export interface ParentBudget {
  /** The run's present limits; null for kinds that its parent does not limit. They never become lower. */
  readonly given: Limits;
  /**
   * Asks for more. Resolves when the parent has answered, with whatever it could give. Rejects when the signal aborts.
   */
  ask(needs: Needs, signal: AbortSignal): Promise<void>;
}

export type Needs = Omit<TopUpAsk, "ask">;

/** `ceiling` is what it may have in all. */
export function openParentAccount(ceiling: Limits, budget: ParentBudget): Account {
  const purse: Purse = {
    get given() {
      return toGiven(budget.given);
    },
    // No `draw`: the parent may wait for others before it answers, so only a `gather` asks it.
    async gather(least, most, signal) {
      await budget.ask({ spent: account.spent, least, most }, signal);
      // The parent has waited as long as a child could still return something.
      return false;
    },
    explain: (kind, call) => explainShare(kind, budget.given[kind] ?? 0, call),
  };
  const account = createAccount(ceiling, purse);
  return account;
}

/** Leaves out the kinds that the parent does not limit. */
function toGiven(limits: Limits): Partial<Amount> {
  const kinds = KINDS.filter((kind) => limits[kind] !== null);
  return Object.fromEntries(kinds.map((kind) => [kind, limits[kind]]));
}

/** The larger of two answers, which may have come in any order: what was given in all. */
export function toLarger(one: Limits, other: Limits): Limits {
  return mapKinds((kind) => {
    const a = one[kind];
    const b = other[kind];
    return a === null || b === null ? null : Math.max(a, b);
  });
}
