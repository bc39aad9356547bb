/**
 * What a run spends from whose parent is in another process: what its parent gave it when it started, and
 * more when it needs more. The parent is asked before a call there is too little for, and waits with its
 * answer while another child may still give something back.
 */

import { type Account, createAccount, type Purse } from "../agent/account.ts";
import { type Amount, KINDS, type Limits, mapKinds } from "../agent/limits.ts";
import { explainShare } from "../agent/share.ts";
import type { TopUpAsk } from "./top-up.ts";

/** How the parent is reached: over a line (`runner/line-budget.ts`) or by messages (`placed/asked-budget.ts`). */
export interface ParentBudget {
  /** What the run may spend now, in all; null where its parent does not limit it. Never becomes less. */
  readonly given: Limits;
  /** Asks for more. Resolves when the parent has answered, with whatever it could give. Rejects when the signal aborts. */
  ask(needs: Needs, signal: AbortSignal): Promise<void>;
}

export type Needs = Omit<TopUpAsk, "ask">;

/** `ceiling` is what it may have in all. */
export function openParentAccount(ceiling: Limits, budget: ParentBudget): Account {
  const purse: Purse = {
    get given() {
      return toGiven(budget.given);
    },
    // No `draw`: the parent may wait for others before it answers, so it is asked by those who gather.
    async gather(least, most, signal) {
      await budget.ask({ spent: account.spent, least, most }, signal);
      // The parent has waited for as long as there was hope.
      return false;
    },
    explain: (kind) => explainShare(kind, budget.given[kind] ?? 0),
  };
  const account = createAccount(ceiling, purse);
  return account;
}

/** What the parent does not limit is not its business. */
function toGiven(limits: Limits): Partial<Amount> {
  const kinds = KINDS.filter((kind) => limits[kind] !== null);
  return Object.fromEntries(kinds.map((kind) => [kind, limits[kind]]));
}

/** What was given in all, by two answers that may have come in any order. */
export function toLarger(one: Limits, other: Limits): Limits {
  return mapKinds((kind) => {
    const [a, b] = [one[kind], other[kind]];
    return a === null || b === null ? null : Math.max(a, b);
  });
}
