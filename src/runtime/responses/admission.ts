/**
 * What a response must pass before it is written down: its model takes its input, its tenant has not too
 * many that wait, and its key can pay for its first question. What that may cost is set aside from here on, so that of two requests for the last
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
import type { BackgroundQueue } from "./background-queue.ts";
import type { Charge, OpenPurse } from "./response-body.ts";

interface AdmissionParts extends Pick<AgentParts, "openModel"> {
  readonly queue: BackgroundQueue;
}

interface Money {
  readonly charge?: Charge | undefined;
  readonly openPurse?: OpenPurse | undefined;
}

export function createAdmission(
  { openModel, queue }: AdmissionParts,
  money: Money,
): ApiParts["admit"] {
  return async (runId, planned) => {
    const { tenant, key_id, background } = planned.wish;
    const model = await openModel(planned.task);
    checkInput(model, planned);
    const takeBack = async (): Promise<void> => {
      queue.forget(runId);
      if (key_id !== null) await money.charge?.(key_id, NOTHING, runId);
    };
    if (background) queue.admit(tenant, runId);
    try {
      if (key_id !== null) await setAside(money, runId, { ...planned, model, keyId: key_id });
    } catch (thrown) {
      await takeBack();
      throw thrown;
    }
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

async function setAside(money: Money, runId: string, asked: Asked): Promise<void> {
  const { keyId, model, task, wish } = asked;
  const purse = await money.openPurse?.(keyId, runId);
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
  // One that waits in a queue asks again when it begins: till then its money is of use to others.
  if (wish.background) await money.charge?.(keyId, NOTHING, runId);
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
