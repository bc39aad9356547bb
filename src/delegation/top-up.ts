/**
 * How a child in a process of its own asks its parent for more budget: a frame of its standard output, answered by a
 * line on its standard input. Amounts are totals.
 */

import { type Amount, eachKind, KINDS, type Limits, mapKinds } from "../agent/limits.ts";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../base/json.ts";

/** The name of the frame. */
export const TOP_UP = "subagent_budget";

export interface TopUpAsk {
  /** The answer has the same number. */
  readonly ask: number;
  /** The child's spending so far, with everything below it. */
  readonly spent: Amount;
  readonly least: Amount;
  readonly most: Amount;
}

export interface TopUpAnswer {
  readonly ask: number;
  /** The child's present limits; null for a kind that its parent does not limit. */
  readonly given: Limits;
}

export function encodeAsk({ ask, spent, least, most }: TopUpAsk): JsonObject {
  const amounts = { spent: toJson(spent), least: toJson(least), most: toJson(most) };
  return { type: TOP_UP, ask, ...amounts };
}

export function parseAsk(frame: JsonObject): TopUpAsk | undefined {
  const { ask, spent, least, most } = frame;
  if (typeof ask !== "number") return undefined;
  const any = Number.POSITIVE_INFINITY;
  return { ask, spent: toAmount(spent, 0), least: toAmount(least, 0), most: toAmount(most, any) };
}

export function encodeAnswer({ ask, given }: TopUpAnswer): string {
  return JSON.stringify({ type: TOP_UP, ask, given });
}

/** Undefined for a line that is something else. */
export function parseAnswer(line: string): TopUpAnswer | undefined {
  const answer = tryParseJson(line);
  if (!isJsonObject(answer) || answer["type"] !== TOP_UP) return undefined;
  return readAnswer(answer);
}

/** Undefined for a value that is not an answer. */
export function readAnswer(answer: Json): TopUpAnswer | undefined {
  const { ask, given } = isJsonObject(answer) ? answer : {};
  if (typeof ask !== "number" || !isJsonObject(given)) return undefined;
  return { ask, given: mapKinds((kind) => readLimit(given[kind])) };
}

function readLimit(limit: Json | undefined): number | null {
  return typeof limit === "number" && limit >= 0 ? limit : null;
}

/** JSON has no `Infinity`: null is any amount. */
function toJson(amount: Amount): JsonObject {
  return Object.fromEntries(
    KINDS.map((kind) => [kind, Number.isFinite(amount[kind]) ? amount[kind] : null]),
  );
}

function toAmount(given: Json | undefined, missing: number): Amount {
  const amounts = isJsonObject(given) ? given : {};
  return eachKind((kind) => readLimit(amounts[kind]) ?? missing);
}
