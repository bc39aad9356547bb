/**
 * How much a model is to think, in its maker's words: Converse has none of its own for most.
 *
 * Claude took a budget of tokens up to 4.5 and decides itself since 4.6, told how much effort to
 * make; since 5 it thinks unless told not to. Models whose words we do not know are left alone.
 */

import type { JsonObject } from "../../base/json.ts";
import type { ModelRequest, Reasoning } from "../provider.ts";
import { claudeVersion, type ModelId } from "./model-id.ts";

export interface Thinking {
  /** For `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** For `outputConfig.effort`. */
  readonly effort: string | undefined;
  /** The limit on output that goes with it; the request's own unless the thinking needs room. */
  readonly maxTokens: number | undefined;
}

type Effort = NonNullable<Reasoning["effort"]>;

/** The largest leaves room for an answer within the 32,000 tokens that the smallest model writes. */
const BUDGETS: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 8192,
  high: 16_384,
  xhigh: 24_000,
  max: 24_000,
};
const MIN_BUDGET = 1024;
const ANSWER_TOKENS = 8000;

/** `isForced`: the model must call a tool, and Claude before 4.8 does not think then. */
export function encodeThinking(
  model: ModelId,
  { reasoning, max_output_tokens }: Pick<ModelRequest, "reasoning" | "max_output_tokens">,
  { isForced }: { readonly isForced: boolean },
): Thinking {
  const { effort } = reasoning;
  const plain: Thinking = { fields: {}, effort: undefined, maxTokens: max_output_tokens };
  const version = claudeVersion(model);
  if (effort === undefined) return plain;
  if (version === undefined) return { ...plain, ...otherThinking(model, effort) };
  if (effort === "none") return version < 5 ? plain : { ...plain, fields: NO_THINKING };
  if (version < 3.7 || (isForced && version < 4.8)) return plain;
  return version < 4.6
    ? { ...plain, ...budgetThinking(effort, max_output_tokens) }
    : { ...plain, ...adaptiveThinking(version, reasoning) };
}

const NO_THINKING: JsonObject = { thinking: { type: "disabled" } };

/** The budget is part of the limit; a limit with no room for the least budget means no thinking. */
function budgetThinking(
  effort: Exclude<Effort, "none">,
  limit: number | undefined,
): Partial<Thinking> {
  const maxTokens = limit ?? BUDGETS[effort] + ANSWER_TOKENS;
  const budget = Math.min(BUDGETS[effort], maxTokens - 1);
  if (budget < MIN_BUDGET) return {};
  return { fields: { thinking: { type: "enabled", budget_tokens: budget } }, maxTokens };
}

function adaptiveThinking(
  version: number,
  { effort = "high", summary }: Reasoning,
): Partial<Thinking> {
  // From 4.7 on the text of the thinking is left out unless asked for; 4.6 knows no such wish.
  const display = summary !== undefined && version >= 4.7 ? { display: "summarized" } : {};
  return {
    fields: { thinking: { type: "adaptive", ...display } },
    effort: toClaudeEffort(effort, version),
  };
}

function toClaudeEffort(effort: Effort, version: number): string {
  if (effort === "minimal") return "low";
  return effort === "xhigh" && version < 4.7 ? "high" : effort;
}

function otherThinking({ maker, name }: ModelId, effort: Effort): Partial<Thinking> {
  if (effort === "none") return {};
  const level = toLevel(effort);
  if (maker === "openai" && name.startsWith("gpt-oss")) {
    return { fields: { reasoning_effort: level } };
  }
  if (maker !== "amazon" || !name.startsWith("nova-2")) return {};
  const fields = { reasoningConfig: { type: "enabled", maxReasoningEffort: level } };
  // At its highest effort Nova refuses every limit.
  return level === "high" ? { fields, maxTokens: undefined } : { fields };
}

function toLevel(effort: Exclude<Effort, "none">): "low" | "medium" | "high" {
  if (effort === "minimal" || effort === "low") return "low";
  return effort === "medium" ? "medium" : "high";
}
