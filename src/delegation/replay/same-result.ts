/** Whether two results of a call that delegates are the same, whatever its children took to come to them. */

import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { FunctionCallOutput } from "../../protocol/items.ts";

/** Figures that a model is told. Tokens count abandoned and interrupted work too, which is not replayed. */
const FIGURES: ReadonlySet<string> = new Set([
  "duration_ms",
  "total_duration_ms",
  "tokens_used",
  "tokens_consumed",
]);

type Output = FunctionCallOutput["output"];

export function isSameResult(one: unknown, other: Output): boolean {
  return toComparable(one) === toComparable(other);
}

function toComparable(output: unknown): string {
  const parsed = typeof output === "string" ? tryParseJson(output) : undefined;
  const value = isJsonObject(parsed) ? parsed : output;
  return JSON.stringify(value, (key, part: unknown) => (FIGURES.has(key) ? undefined : part));
}
