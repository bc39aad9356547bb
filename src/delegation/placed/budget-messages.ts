/**
 * The messages between a run and a child of it that may run in any process: the child asks for more budget, and its
 * parent says what it may spend now. Amounts are totals, so a message that comes twice, or late, does no harm.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { encodeAsk, parseAsk, readAnswer, type TopUpAnswer, type TopUpAsk } from "../top-up.ts";

/** The topic on which a run receives what its children ask for. */
export const BUDGET_ASKS = "budget_asks";
/** The topic on which a child receives what it was given. */
export const BUDGET_ANSWERS = "budget_answers";

/** Which owner of the child asks: numbers begin again with each owner. */
interface Asking {
  readonly asker: string;
}

export interface BudgetAsk extends TopUpAsk, Asking {
  readonly child: string;
}

export interface BudgetAnswer extends TopUpAnswer, Asking {}

export function encodeBudgetAsk({ child, asker, ...ask }: BudgetAsk): JsonObject {
  return { ...encodeAsk(ask), child, asker };
}

/** Undefined for a message that is not an ask. */
export function parseBudgetAsk(message: Json): BudgetAsk | undefined {
  if (!isJsonObject(message)) return undefined;
  const { child, asker } = message;
  const ask = parseAsk(message);
  if (!ask || typeof child !== "string" || typeof asker !== "string") return undefined;
  return { ...ask, child, asker };
}

export function encodeBudgetAnswer({ ask, given, asker }: BudgetAnswer): JsonObject {
  return { ask, given: { ...given }, asker };
}

/** Undefined for a message that is not an answer. */
export function parseBudgetAnswer(message: Json): BudgetAnswer | undefined {
  const answer = readAnswer(message);
  const asker = isJsonObject(message) ? message["asker"] : undefined;
  return answer && typeof asker === "string" ? { ...answer, asker } : undefined;
}
