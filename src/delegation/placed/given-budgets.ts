/**
 * Gives more budget to children that may run in any process. They ask by a message. What a child is given is in the
 * log (`child_budget`) before the child gets it: after a takeover the new owner reserves as much again.
 */

import type { ChildAccount } from "../../agent/account.ts";
import type { RunContext } from "../../engine/engine.ts";
import { giveMore } from "../executors/top-ups.ts";
import {
  BUDGET_ANSWERS,
  BUDGET_ASKS,
  type BudgetAsk,
  encodeBudgetAnswer,
  parseBudgetAsk,
} from "./budget-messages.ts";

export interface GivenBudgets {
  /** Answers a child from here on. Called in run code. */
  open(child: string, account: ChildAccount, signal: AbortSignal): GivenBudget;
}

/** Owned by the code that waits for the child, which stops it when the child has ended. */
export interface GivenBudget {
  /** Rejects if the child can no longer be answered: it would wait for ever. */
  readonly failed: Promise<never>;
  stop(): void;
}

interface OpenChild {
  readonly account: ChildAccount;
  readonly signal: AbortSignal;
  fail(reason: unknown): void;
}

export function createGivenBudgets(context: RunContext, now: () => number): GivenBudgets {
  const open = new Map<string, OpenChild>();
  /** Asks of children that are not open yet: after a takeover messages come again before their children do. */
  const early = new Map<string, BudgetAsk[]>();
  let isHearing = false;

  async function hear(): Promise<never> {
    for (;;) {
      const ask = parseBudgetAsk(await context.waitFor(BUDGET_ASKS, Number.POSITIVE_INFINITY));
      if (ask) take(ask);
    }
  }

  function take(ask: BudgetAsk): void {
    const child = open.get(ask.child);
    if (!child) {
      early.set(ask.child, [...(early.get(ask.child) ?? []), ask]);
      return;
    }
    answer(ask, child).catch(child.fail);
  }

  async function answer({ child, ask, asker, ...needs }: BudgetAsk, to: OpenChild): Promise<void> {
    const given = await giveMore(to.account, needs, to.signal);
    await context.tell([
      { type: "child_budget", child_id: child, limits: { ...given }, at_ms: now() },
    ]);
    const body = encodeBudgetAnswer({ ask, given, asker });
    await context.runs.signal(child, BUDGET_ANSWERS, { key: `${asker}:${ask}`, body });
  }

  return {
    open(id, account, signal) {
      const ended = new AbortController();
      let fail: OpenChild["fail"] = () => {};
      const failed = new Promise<never>((_, reject) => {
        fail = reject;
      });
      // Handled where the child is awaited; a child that has ended is not awaited.
      failed.catch(() => {});
      open.set(id, { account, signal: AbortSignal.any([signal, ended.signal]), fail });
      if (!isHearing) {
        isHearing = true;
        hear().catch((thrown: unknown) => {
          for (const child of open.values()) child.fail(thrown);
        });
      }
      const asked = early.get(id) ?? [];
      early.delete(id);
      for (const ask of asked) take(ask);
      return {
        failed,
        stop() {
          ended.abort();
          open.delete(id);
        },
      };
    },
  };
}
