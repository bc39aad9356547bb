/**
 * How much a model may think and say: `thinking`, `output_config.effort` and `max_tokens`, which the
 * API asks for in every request and out of which it also takes the thinking.
 */

import { THINKING_BUDGETS as BUDGETS, type MessagesTurn } from "../../protocol/messages-blocks.ts";
import { forcesHosted, isForced } from "../offered-tools.ts";
import type { ModelRequest, Reasoning } from "../provider.ts";
import type { Quirks } from "../wire.ts";
import { type ClaudeModel, claudeModelOf } from "./claude-models.ts";
import type { Effort, Thinking } from "./schema.ts";

type Asked = NonNullable<Reasoning["effort"]>;

export interface Limits {
  readonly max_tokens: number;
  readonly thinking: Thinking | undefined;
  readonly effort: Effort | undefined;
}

export function encodeLimits(
  request: ModelRequest,
  turns: readonly MessagesTurn[],
  quirks: Quirks,
): Limits {
  const model = claudeModelOf(request.model, quirks);
  const { effort } = request.reasoning;
  if (effort === "none") return withoutThinking(request, model);
  if (model.thinking === "budget") return withBudget(request, turns, model);
  const thinking = model.thinking === "adaptive" ? adaptive(request.reasoning, model) : undefined;
  return {
    max_tokens: request.max_output_tokens ?? tokensFor(effort, model),
    thinking,
    effort: effort && nearest(effort, model.efforts),
  };
}

/** Whether the request is one in which sampling is the model's own business. */
export function isThinking({ thinking }: Limits): boolean {
  return thinking?.type === "adaptive" || thinking?.type === "enabled";
}

function withoutThinking({ max_output_tokens }: ModelRequest, model: ClaudeModel): Limits {
  const max_tokens = max_output_tokens ?? model.usualTokens;
  const isNews = model.thinksByItself && model.thinking !== "none";
  const thinking = isNews && model.off ? { type: model.off } : undefined;
  const effort = isNews && !model.off ? model.efforts[0] : undefined;
  return { max_tokens, thinking, effort };
}

/** A summary has to be asked for; newer models otherwise show nothing of what they think. */
function adaptive({ effort, summary }: Reasoning, model: ClaudeModel): Thinking | undefined {
  const isShown = summary !== undefined;
  if (effort === undefined && !(isShown && model.thinksByItself)) return undefined;
  return isShown ? { type: "adaptive", display: "summarized" } : { type: "adaptive" };
}

function withBudget(
  { reasoning, max_output_tokens, tool_choice }: ModelRequest,
  turns: readonly MessagesTurn[],
  model: ClaudeModel,
): Limits {
  const { effort } = reasoning;
  const sent = effort && effort !== "none" ? nearest(effort, model.efforts) : undefined;
  const plain = { max_tokens: max_output_tokens ?? model.usualTokens, thinking: undefined };
  // The API refuses to think where a call is forced, and in the middle of a turn begun without.
  const isTold = isForced(tool_choice) || forcesHosted(tool_choice);
  const mayThink = !isTold && !lacksThought(turns);
  if (!effort || effort === "none" || !mayThink) return { ...plain, effort: sent };
  const wanted = BUDGETS[effort];
  const max_tokens = max_output_tokens ?? Math.min(model.maxTokens, wanted + model.usualTokens);
  const budget_tokens = Math.min(wanted, Math.floor(max_tokens * 0.75));
  if (budget_tokens < BUDGETS.minimal) return { ...plain, effort: sent };
  return { max_tokens, thinking: { type: "enabled", budget_tokens }, effort: sent };
}

/** Whether results go to a turn that does not start with a thought: another model made its calls. */
function lacksThought(turns: readonly MessagesTurn[]): boolean {
  if (turns.at(-1)?.content[0]?.type !== "tool_result") return false;
  const first = turns.at(-2)?.content[0]?.type;
  return first !== "thinking" && first !== "redacted_thinking";
}

const ORDER: readonly Asked[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The strongest effort that is no stronger than asked for, or else the weakest. */
function nearest(effort: Asked, known: readonly Effort[]): Effort | undefined {
  const most = ORDER.indexOf(effort);
  return known.findLast((word) => ORDER.indexOf(word) <= most) ?? known[0];
}

/** Long thoughts leave little for the answer. */
function tokensFor(effort: Reasoning["effort"], { usualTokens, maxTokens }: ClaudeModel): number {
  const isLong = effort === "xhigh" || effort === "max";
  return isLong ? Math.min(maxTokens, 2 * usualTokens) : usualTokens;
}
