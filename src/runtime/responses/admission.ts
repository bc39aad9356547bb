/**
 * What a response must pass before it is written down: its model takes its input, and its key can pay for
 * its first question. What that may cost is set aside from here on, so that of two requests for the last
 * of a budget one is refused, and not both begun.
 */

import { createAccount } from "../../agent/account.ts";
import { affordCall } from "../../agent/call-cost.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { NO_USAGE } from "../../protocol/usage.ts";
import type { ApiParts } from "../../responses/api.ts";
import { truncate } from "../../responses/context/truncation.ts";
import type { Planned } from "../../responses/request/plan-response.ts";
import type { AgentParts } from "../agent-body.ts";
import type { OpenedModel } from "../open-model.ts";
import type { Charge, OpenPurse } from "./response-body.ts";

interface Money {
  readonly charge?: Charge | undefined;
  readonly openPurse?: OpenPurse | undefined;
}

export function createAdmission(
  { openModel }: Pick<AgentParts, "openModel">,
  money: Money,
): ApiParts["admit"] {
  return async (runId, planned) => {
    const model = await openModel(planned.task);
    checkInput(model, planned);
    const { key_id } = planned.wish;
    if (key_id === null || !money.openPurse) return async () => {};
    const takeBack = async (): Promise<void> => {
      await money.charge?.(key_id, NOTHING, runId);
    };
    try {
      await setAside(money.openPurse, runId, { ...planned, model, keyId: key_id });
    } catch (thrown) {
      await takeBack();
      throw thrown;
    }
    // One that waits in a queue asks again when it begins: till then its money is of use to others.
    if (planned.wish.background) await takeBack();
    return takeBack;
  };
}

const NOTHING = { tokens: 0, usd: 0 };

/** What is cut to the model's window anyway is not too long. */
function checkInput({ contextTokens, checkInput: check }: OpenedModel, planned: Planned): void {
  const { task, wish } = planned;
  const isCut = wish.truncation === "auto" && contextTokens !== undefined;
  check(isCut ? truncate(task.items, { maxTokens: contextTokens }) : task.items);
}

interface Asked extends Planned {
  readonly model: OpenedModel;
  readonly keyId: string;
}

async function setAside(openPurse: OpenPurse, runId: string, asked: Asked): Promise<void> {
  const { keyId, model, task, wish } = asked;
  const purse = await openPurse(keyId, runId);
  if (!purse) return;
  // A model whose price nobody knows is refused by the run itself, in its own words.
  if (purse.given.usd !== undefined && model.costOf(NO_USAGE) === undefined) return;
  const first = {
    items: task.items,
    instructions: task.instructions ?? undefined,
    tools: wish.tools,
    maxOutputTokens: task.max_output_tokens ?? undefined,
  };
  try {
    affordCall(createAccount(task.limits, purse), first, model);
  } catch (thrown) {
    throw toLacking(toFailure(thrown));
  }
}

/** Others give back what they do not use: to ask again may help. */
function toLacking(failure: Failure): Failure {
  if (failure.code !== "budget_exceeded") return failure;
  const message =
    "What this key has left, and other responses have not set aside, does not pay for this request. Ask for less, or when others have ended.";
  return new Failure("budget_exceeded", message, { cause: failure, retryAfterMs: RETRY_MS });
}

/** Nobody knows when another one ends. */
const RETRY_MS = 1000;
