/** What the interpreter decided to say, before it is cut into events. */

import { toUsage, type Usage } from "../../protocol/usage.ts";
import { countTokens, cutToTokens } from "./count-tokens.ts";
import type { ToolRequest } from "./intents/intent.ts";

export interface Reply {
  readonly reasoning: string | undefined;
  /** Undefined when the reply is calls or a refusal alone. */
  readonly text: string | undefined;
  /** Why there is no answer; undefined when there is one. */
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
 * Cuts a draft to its token limit, in the order it is said: reasoning, text, calls. Text is cut where
 * the limit falls; a call that does not fit is left out whole, because half a call is none. A refusal is cut as
 * text is, and stays one: budgets rely on the limit.
 */
export function toReply(
  draft: Draft,
  inputTokens: number,
  maxTokens = Number.POSITIVE_INFINITY,
): Reply {
  const reasoning = draft.reasoning && cutToTokens(draft.reasoning, maxTokens);
  const thought = countTokens(reasoning ?? "");
  const text = draft.text && cutToTokens(draft.text, maxTokens - thought);
  const refusal = draft.refusal && cutToTokens(draft.refusal, maxTokens - thought);
  // Long ones are counted roughly, and were cut exactly.
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

function reasonOf({ refusal }: Draft, isCut: boolean, hasCalls: boolean): Reply["reason"] {
  if (refusal) return "refusal";
  if (isCut) return "length";
  return hasCalls ? "tool_calls" : "stop";
}
