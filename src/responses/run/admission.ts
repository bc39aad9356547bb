/**
 * Checks a response before it is written down: its model accepts its input, and its key can pay for its first model
 * call. The cost of that call is reserved from here on, so that of two requests for the rest of a budget one is
 * refused, and not both begun.
 */

import { createAccount, type Purse } from "../../agent/account.ts";
import { checkAffordable } from "../../agent/call-cost.ts";
import { checkPriced } from "../../agent/call-estimate.ts";
import { findAsked } from "../../agent/context/keep-words.ts";
import { estimateTokens } from "../../agent/context/token-estimate.ts";
import { truncate } from "../../agent/context/truncation.ts";
import { undoAfter } from "../../base/busy.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import type { OpenModel, ResponseModel } from "../models/response-model.ts";
import type { Planned } from "../request/plan-response.ts";
import type { ResponseMoney } from "./response-money.ts";

type Money = Pick<ResponseMoney, "charge" | "openPurse">;

/**
 * Rejects a run that would fail, and reserves the possible cost of its first call; sends nothing. The returned
 * function releases the reservation, for a run that does not begin.
 */
export type Admit = (runId: string, planned: Planned) => Promise<() => Promise<void>>;

export function createAdmission(openModel: OpenModel, money: Money): Admit {
  return async (runId, planned) => {
    const { key_id } = planned.wish;
    const model = await openModel(planned.task);
    checkInput(model, planned);
    checkPriced(planned.task.limits, model);
    const takeBack = async (): Promise<void> => {
      if (key_id !== null) await money.charge?.(key_id, NOTHING, runId);
    };
    try {
      if (key_id !== null) await setAside(money, runId, { model, keyId: key_id, ...planned });
    } catch (thrown) {
      await undoAfter(thrown, takeBack);
      throw thrown;
    }
    return takeBack;
  };
}

const NOTHING = { tokens: 0, usd: 0 };

function checkInput({ contextTokens, checkInput: check }: ResponseModel, planned: Planned): void {
  const { task, wish } = planned;
  // A summary is requested, and its input is cut to the window.
  if (wish.is_compaction) return;
  check(toSent(task.items, wish, contextTokens));
}

/** An input that is cut to the model's window, or compacted first, is not too long. */
function toSent(
  items: readonly Item[],
  { truncation, compact_threshold }: Planned["wish"],
  contextTokens: number | undefined,
): readonly Item[] {
  const isCut = truncation === "auto" && contextTokens !== undefined;
  const cut = isCut ? truncate(items, { maxTokens: contextTokens }) : items;
  const isCompacted =
    compact_threshold !== null && estimateTokens({ items: cut }) >= compact_threshold;
  return isCompacted ? findAsked(cut, compact_threshold) : cut;
}

interface Asked extends Planned {
  readonly model: ResponseModel;
  readonly keyId: string;
}

async function setAside(money: Money, runId: string, asked: Asked): Promise<void> {
  const { keyId, model, task, wish } = asked;
  const purse = await money.openPurse?.(keyId, runId);
  if (!purse) return;
  checkPriced({ usd: purse.given.usd ?? null }, model);
  const first = {
    items: task.items,
    instructions: task.instructions ?? undefined,
    tools: wish.tools,
    max_output_tokens: task.max_output_tokens ?? undefined,
  };
  try {
    await checkAffordable(createAccount(task.limits, purse), first, model);
  } catch (thrown) {
    throw toLacking(toFailure(thrown), purse);
  }
  // A run that waits in a queue reserves when it begins: until then, others may use the budget.
  if (wish.background) await money.charge?.(keyId, NOTHING, runId);
}

/** The purse knows when there will be more. */
function toLacking(failure: Failure, { explain }: Purse): Failure {
  if (failure.code !== "budget_exceeded" || !explain) return failure;
  const { message, retryAfterMs } = explain("tokens", { wanted: 0, left: 0 });
  return new Failure("budget_exceeded", message, { cause: failure, retryAfterMs });
}
