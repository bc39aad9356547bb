/**
 * How a run asks for more budget if its parent may be in any process: by messages of the engine.
 *
 * It asks inside the step that needs it, and a step must not wait for messages. So one wait in the run's own code
 * receives all answers, from the beginning of the run on. After a takeover the new owner receives again the answers
 * that the run has had.
 */

import type { Limits } from "../../agent/limits.ts";
import { untilAborted } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import type { RunContext } from "../../engine/engine.ts";
import { type ParentBudget, toLarger } from "../parent-account.ts";
import {
  BUDGET_ANSWERS,
  BUDGET_ASKS,
  encodeBudgetAsk,
  parseBudgetAnswer,
} from "./budget-messages.ts";

type Asking = Pick<RunContext, "id" | "waitFor" | "runs">;

/** Called in run code. `parent` is the id of the run above; `given` is what this one has when it starts. */
export function openAskedBudget(context: Asking, parent: string, given: Limits): ParentBudget {
  const { id: child, runs } = context;
  // Not a key of the journal: it only tells answers to this owner from answers to others.
  const asker = makeId("asker");
  const open = new Map<number, () => void>();
  let asks = 0;
  let now = given;

  async function hear(): Promise<never> {
    for (;;) {
      const answer = parseBudgetAnswer(await context.waitFor(BUDGET_ANSWERS, ANY_TIME));
      if (!answer) continue;
      now = toLarger(now, answer.given);
      if (answer.asker === asker) open.get(answer.ask)?.();
    }
  }
  // Listens for answers as long as this process owns the run. If it stops, later asks are rejected with the reason.
  const over = hear();
  over.catch(() => {});

  return {
    get given() {
      return now;
    },
    async ask(needs, signal) {
      const ask = ++asks;
      const answered = new Promise<void>((resolve) => void open.set(ask, resolve));
      const body = encodeBudgetAsk({ ...needs, ask, child, asker });
      try {
        await runs.signal(parent, BUDGET_ASKS, { key: `${asker}:${ask}`, body });
        await untilAborted(Promise.race([answered, over]), signal);
      } catch (thrown) {
        if (!isGone(thrown)) throw thrown;
      } finally {
        open.delete(ask);
      }
    },
  };
}

const ANY_TIME = Number.POSITIVE_INFINITY;

/** A parent that has ended gives nothing more, and ends this run too. */
function isGone(thrown: unknown): boolean {
  return thrown instanceof Failure && (thrown.code === "conflict" || thrown.code === "not_found");
}
