/**
 * How much a model may think and write: `thinking`, `output_config.effort` and `max_tokens`. The API
 * requires `max_tokens` in every request, and it includes the thinking.
 */

import { THINKING_BUDGETS as BUDGETS, type MessagesTurn } from "../../protocol/messages-blocks.ts";
import { forcesHosted, isForced } from "../offered-tools.ts";
import type { ModelRequest, ReasoningOptions } from "../provider.ts";
import type { Quirks } from "../wire.ts";
import { type ClaudeModel, claudeModelOf } from "./claude-models.ts";
import type { MessagesEffort, MessagesThinking } from "./schema.ts";

type Asked = NonNullable<ReasoningOptions["effort"]>;

export interface ThinkingLimits {
  readonly max_tokens: number;
  readonly thinking: MessagesThinking | undefined;
  readonly effort: MessagesEffort | undefined;
}

export function encodeLimits(
  request: ModelRequest,
  turns: readonly MessagesTurn[],
  quirks: Quirks,
): ThinkingLimits {
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

/** True if the API does not allow sampling parameters in the request because the model thinks. */
export function isThinking({ thinking }: ThinkingLimits): boolean {
  return thinking?.type === "adaptive" || thinking?.type === "enabled";
}

function withoutThinking({ max_output_tokens }: ModelRequest, model: ClaudeModel): ThinkingLimits {
  const max_tokens = max_output_tokens ?? model.usualTokens;
  const isNews = model.thinksByItself && model.thinking !== "none";
  const thinking = isNews && model.off ? { type: model.off } : undefined;
  const effort = isNews && !model.off ? model.efforts[0] : undefined;
  return { max_tokens, thinking, effort };
}

/**
 * Asks for a summary if the request does, and for none if it says so. Newer models otherwise show nothing of their
 * thinking, older ones a summary.
 */
function adaptive(
  { effort, summary, display }: ReasoningOptions,
  model: ClaudeModel,
): MessagesThinking | undefined {
  const isShown = summary !== undefined;
  if (effort === undefined && !(isShown && model.thinksByItself)) return undefined;
  if (isShown) return { type: "adaptive", display: "summarized" };
  return display === undefined ? { type: "adaptive" } : { type: "adaptive", display };
}

function withBudget(
  { reasoning, max_output_tokens, tool_choice }: ModelRequest,
  turns: readonly MessagesTurn[],
  model: ClaudeModel,
): ThinkingLimits {
  const { effort } = reasoning;
  const sent = effort && effort !== "none" ? nearest(effort, model.efforts) : undefined;
  const plain = { max_tokens: max_output_tokens ?? model.usualTokens, thinking: undefined };
  // The API refuses thinking if a call is forced, and in the middle of a turn that began without it.
  const isTold = isForced(tool_choice) || forcesHosted(tool_choice);
  const mayThink = !isTold && !lacksThought(turns);
  if (!effort || effort === "none" || !mayThink) return { ...plain, effort: sent };
  const wanted = BUDGETS[effort];
  const max_tokens = max_output_tokens ?? Math.min(model.maxTokens, wanted + model.usualTokens);
  const budget_tokens = Math.min(wanted, Math.floor(max_tokens * 0.75));
  if (budget_tokens < BUDGETS.minimal) return { ...plain, effort: sent };
  return { max_tokens, thinking: { type: "enabled", budget_tokens }, effort: sent };
}

/** True if the results go to a turn that does not start with thinking: another model made its calls. */
function lacksThought(turns: readonly MessagesTurn[]): boolean {
  if (turns.at(-1)?.content[0]?.type !== "tool_result") return false;
  const first = turns.at(-2)?.content[0]?.type;
  return first !== "thinking" && first !== "redacted_thinking";
}

const ORDER: readonly Asked[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The strongest effort that is not stronger than the requested one, or else the weakest. */
function nearest(effort: Asked, known: readonly MessagesEffort[]): MessagesEffort | undefined {
  const most = ORDER.indexOf(effort);
  return known.findLast((word) => ORDER.indexOf(word) <= most) ?? known[0];
}

/** The length of an answer. Long thinking leaves little of it for the answer itself. */
function tokensFor(
  effort: ReasoningOptions["effort"],
  { usualTokens, maxTokens }: ClaudeModel,
): number {
  const isLong = effort === "xhigh" || effort === "max";
  return isLong ? Math.min(maxTokens, 2 * usualTokens) : usualTokens;
}
