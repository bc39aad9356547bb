/** The reply of the interpreter, before it becomes events. */

import { toUsage, type Usage } from "../../protocol/usage.ts";
import { countTokens, cutToTokens } from "./count-tokens.ts";
import type { ToolRequest } from "./intents/intent.ts";

export interface EmbeddedReply {
  readonly reasoning: string | undefined;
  /** Undefined if the reply is only calls or a refusal. */
  readonly text: string | undefined;
  /** Why there is no answer; undefined if there is one. */
  readonly refusal: string | undefined;
  readonly calls: readonly ToolRequest[];
  readonly reason: "stop" | "tool_calls" | "length" | "refusal";
  readonly usage: Usage;
}

interface Draft {
  readonly reasoning: string | undefined;
  readonly text?: string | undefined;
  readonly refusal?: string | undefined;
  readonly calls: readonly ToolRequest[];
}

/**
 * Cuts a draft to its token limit, in the order in which it is streamed: reasoning, text, calls. Text is
 * cut at the limit. A call that does not fit is left out, because half a call is useless. A refusal is cut
 * like text and stays a refusal. Budgets rely on the limit.
 */
export function toReply(
  draft: Draft,
  inputTokens: number,
  maxTokens = Number.POSITIVE_INFINITY,
): EmbeddedReply {
  const reasoning = draft.reasoning && cutToTokens(draft.reasoning, maxTokens);
  const thought = countTokens(reasoning ?? "");
  const text = draft.text && cutToTokens(draft.text, maxTokens - thought);
  const refusal = draft.refusal && cutToTokens(draft.refusal, maxTokens - thought);
  // Long texts are counted roughly, but were cut exactly.
  const said = countTokens(text ?? "") + countTokens(refusal ?? "");
  let spent = Math.min(thought + said, Math.max(maxTokens, thought));
  const calls = draft.calls.filter((call) => {
    const cost = countTokens(call.name) + countTokens(JSON.stringify(call.arguments));
    if (spent + cost > maxTokens) return false;
    spent += cost;
    return true;
  });
  const isCut =
    reasoning !== draft.reasoning || text !== draft.text || calls.length < draft.calls.length;
  return {
    reasoning: reasoning || undefined,
    text: text || undefined,
    refusal: refusal || undefined,
    calls,
    reason: reasonOf(draft, isCut, calls.length > 0),
    usage: toUsage({ input: inputTokens, output: spent, reasoning: thought }),
  };
}

function reasonOf({ refusal }: Draft, isCut: boolean, hasCalls: boolean): EmbeddedReply["reason"] {
  if (refusal) return "refusal";
  if (isCut) return "length";
  return hasCalls ? "tool_calls" : "stop";
}
