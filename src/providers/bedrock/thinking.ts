/**
 * How much a model thinks, in its maker's parameters: for most models Converse has none of its own.
 *
 * Claude took a budget of tokens up to 4.5. Since 4.6 it decides itself and takes an effort; since 5 it
 * thinks unless the request says not to. Models whose parameters we do not know get none.
 */

import type { JsonObject } from "../../base/json.ts";
import type { ModelRequest, ReasoningOptions } from "../provider.ts";
import { claudeVersion, type ModelId } from "./model-id.ts";

export interface ConverseThinking {
  /** Goes into `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** Goes into `outputConfig.effort`. */
  readonly effort: string | undefined;
  /** The limit on output. It is the request's own unless thinking needs more. */
  readonly maxTokens: number | undefined;
}

type Effort = NonNullable<ReasoningOptions["effort"]>;

/**
 * Budgets in tokens. The largest leaves room for an answer within the 32,000 tokens that the smallest model
 * writes.
 */
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

/** `isForced` says that the model must call a tool. Claude before 4.8 does not think then. */
export function encodeThinking(
  model: ModelId,
  { reasoning, max_output_tokens }: Pick<ModelRequest, "reasoning" | "max_output_tokens">,
  { isForced }: { readonly isForced: boolean },
): ConverseThinking {
  const { effort } = reasoning;
  const plain: ConverseThinking = { fields: {}, effort: undefined, maxTokens: max_output_tokens };
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

/**
 * The budget is part of the limit. If the limit has no room for the smallest budget, the model does not
 * think.
 */
function budgetThinking(
  effort: Exclude<Effort, "none">,
  limit: number | undefined,
): Partial<ConverseThinking> {
  const maxTokens = limit ?? BUDGETS[effort] + ANSWER_TOKENS;
  const budget = Math.min(BUDGETS[effort], maxTokens - 1);
  if (budget < MIN_BUDGET) return {};
  return { fields: { thinking: { type: "enabled", budget_tokens: budget } }, maxTokens };
}

function adaptiveThinking(
  version: number,
  { effort = "high", summary }: ReasoningOptions,
): Partial<ConverseThinking> {
  // From 4.7 on the text of the thinking is left out unless the request asks for it; 4.6 has no such
  // parameter.
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

function otherThinking({ maker, name }: ModelId, effort: Effort): Partial<ConverseThinking> {
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
