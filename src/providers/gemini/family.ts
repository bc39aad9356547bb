/**
 * The facts that depend on the generation of a model: how its thinking is set, and whether a call without its
 * signature is refused. Unknown names count as the newest generation, but get nothing that only some models
 * accept.
 */

import type { ReasoningOptions } from "../provider.ts";
import type { GeminiThinking } from "./schema.ts";

export interface Family {
  /** Set by a named level, by a budget of tokens, or not at all. */
  readonly thinking: "level" | "budget" | "none";
  /** The lowest level of a model that cannot stop thinking; undefined if that is not known. */
  readonly lowestLevel: "MINIMAL" | "LOW" | undefined;
  readonly budget: { readonly min: number; readonly max: number };
  /** True if the first call of a step must have its signature. */
  readonly isSigned: boolean;
  /** True if a function response may contain images and documents. */
  readonly hasMediaResponses: boolean;
  /** True if the model draws; some do so only if the request allows it. */
  readonly draws: boolean;
  /** True if it accepts functions beside tools that Google runs. */
  readonly mixesTools: boolean;
  /** True if Google bills each search, and not each prompt that searched. */
  readonly paysQueries: boolean;
}

export function familyOf(model: string): Family {
  const name = model.slice(model.lastIndexOf("/") + 1);
  const version = Number(/^gemini-(\d+(?:\.\d+)?)/.exec(name)?.[1] ?? Number.NaN);
  const draws = /^gemini-.*-image\b/.test(name);
  if (name.startsWith("gemma") || version < 2.5) return { ...PLAIN, draws };
  const isPro = name.includes("pro");
  if (version < 3) {
    // Pro cannot stop thinking, and may think longer.
    return { ...PLAIN, draws, thinking: "budget", budget: isPro ? PRO_BUDGET : FLASH_BUDGET };
  }
  // Later models refuse this level.
  const isMinimal = name.includes("flash") && version <= 3.5;
  return {
    ...PLAIN,
    draws,
    thinking: "level",
    lowestLevel: Number.isNaN(version) ? undefined : isMinimal ? "MINIMAL" : "LOW",
    isSigned: true,
    hasMediaResponses: true,
    mixesTools: true,
    paysQueries: true,
  };
}

const FLASH_BUDGET = { min: 0, max: 24_576 };
const PRO_BUDGET = { min: 128, max: 32_768 };

const PLAIN: Family = {
  thinking: "none",
  lowestLevel: undefined,
  budget: FLASH_BUDGET,
  isSigned: false,
  hasMediaResponses: false,
  draws: false,
  mixesTools: false,
  paysQueries: false,
};

type Effort = Exclude<ReasoningOptions["effort"], undefined | "none">;

const LEVELS = {
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
} as const satisfies Record<Effort, GeminiThinking["thinkingLevel"]>;

/** Budgets that Google's own OpenAI-compatible API uses for the same words. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};

/**
 * The thinking settings. Google shows thoughts only on request, so a request for thinking asks for them
 * too.
 */
export function toThinking(
  { effort, summary }: ReasoningOptions,
  family: Family,
): GeminiThinking | undefined {
  if (family.thinking === "none") return undefined;
  if (effort === "none") return toLeastThinking(family);
  if (effort === undefined) return summary === undefined ? undefined : { includeThoughts: true };
  if (family.thinking === "budget") {
    const thinkingBudget = Math.min(BUDGETS[effort], family.budget.max);
    return { includeThoughts: true, thinkingBudget };
  }
  const thinkingLevel = effort === "minimal" ? family.lowestLevel : LEVELS[effort];
  return { includeThoughts: true, thinkingLevel: thinkingLevel ?? LEVELS[effort] };
}

function toLeastThinking({ thinking, lowestLevel, budget }: Family): GeminiThinking | undefined {
  if (thinking === "budget") return { thinkingBudget: budget.min };
  return lowestLevel ? { thinkingLevel: lowestLevel } : undefined;
}
