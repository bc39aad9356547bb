/** The report on each child that a delegating call gave its model, read from the call's result. */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ToolEnd } from "../../protocol/run-events.ts";

/** The result of one child, as its parent's model was told. */
export interface ToldAnswer {
  readonly label: string;
  readonly output: string;
  readonly error: string | undefined;
}

/** Empty if the call itself was refused: its result is a sentence then. */
export function answersIn({ item }: Pick<ToolEnd, "item">): ToldAnswer[] {
  const output = item.type === "function_call_output" ? item.output : "";
  const parsed = typeof output === "string" ? tryParseJson(output) : undefined;
  if (!isJsonObject(parsed)) return [];
  const { results } = parsed;
  const all = Array.isArray(results) ? results.filter(isJsonObject) : [parsed];
  return all.map(toAnswer);
}

/** True if no child was started: a child that ran and failed has its own ending in the log. */
export function isRefusal(answer: ToldAnswer): answer is ToldAnswer & { readonly error: string } {
  const { error } = answer;
  return error !== undefined && !error.startsWith("Subagent execution failed");
}

function toAnswer(envelope: JsonObject): ToldAnswer {
  const { metadata, label, output, error } = envelope;
  const named = isJsonObject(metadata) ? metadata["subagent_label"] : label;
  return {
    label: typeof named === "string" ? named : "",
    output: typeof output === "string" ? output : "",
    error: typeof error === "string" ? error : undefined,
  };
}
