/** The wishes that `generateContent` has words for. */

import type { OptionName } from "../known-options.ts";
import type { ModelOptions } from "../provider.ts";
import type { GeminiGenerationConfig, GeminiRequest } from "./schema.ts";

export const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "frequencyPenalty",
  "presencePenalty",
  "topLogprobs",
  "serviceTier",
]);

export function encodeSampling(options: ModelOptions): GeminiGenerationConfig {
  const { stop, frequencyPenalty, presencePenalty, topLogprobs } = options;
  return {
    ...(stop && stop.length > 0 && { stopSequences: [...stop] }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(topLogprobs !== undefined && { responseLogprobs: true }),
    ...(topLogprobs && { logprobs: topLogprobs }),
  };
}

type Tier = NonNullable<GeminiRequest["serviceTier"]>;

const TIERS: Readonly<Record<string, Tier>> = {
  default: "standard",
  standard: "standard",
  flex: "flex",
  priority: "priority",
};

/** `auto` is what a request without a word gets. */
export function encodeTier({ serviceTier }: ModelOptions): Pick<GeminiRequest, "serviceTier"> {
  const tier = TIERS[serviceTier ?? ""];
  return tier ? { serviceTier: tier } : {};
}

export function omittedOptions({ serviceTier = "auto" }: ModelOptions): string[] {
  return serviceTier === "auto" || TIERS[serviceTier] ? [] : ["service_tier"];
}
