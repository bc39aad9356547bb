/** What a call of a delegating tool told its model of each child, read from the call's result. */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ToolEnd } from "../../protocol/run-events.ts";

/** What one child came to, as its parent's model was told. */
export interface Answer {
  readonly label: string;
  readonly output: string;
  readonly error: string | undefined;
}

/** None where the call itself was refused: its result is a sentence then. */
export function answersIn({ item }: Pick<ToolEnd, "item">): Answer[] {
  const output = item.type === "function_call_output" ? item.output : "";
  const parsed = typeof output === "string" ? tryParseJson(output) : undefined;
  if (!isJsonObject(parsed)) return [];
  const { results } = parsed;
  const all = Array.isArray(results) ? results.filter(isJsonObject) : [parsed];
  return all.map(toAnswer);
}

/** Whether there was no child: one that ran and failed has its own ending in the log. */
export function isRefusal(answer: Answer): answer is Answer & { readonly error: string } {
  const { error } = answer;
  return error !== undefined && !error.startsWith("Subagent execution failed");
}

function toAnswer(envelope: JsonObject): Answer {
  const { metadata, label, output, error } = envelope;
  const named = isJsonObject(metadata) ? metadata["subagent_label"] : label;
  return {
    label: typeof named === "string" ? named : "",
    output: typeof output === "string" ? output : "",
    error: typeof error === "string" ? error : undefined,
  };
}
