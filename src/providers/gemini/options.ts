/** The options that `generateContent` supports. */

import type { OptionName } from "../known-options.ts";
import type { ModelOptions } from "../provider.ts";
import type { GeminiGenerationConfig, GeminiRequest } from "./schema.ts";

export const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "top_logprobs",
  "service_tier",
]);

export function encodeSampling(options: ModelOptions): GeminiGenerationConfig {
  const { stop, frequency_penalty, presence_penalty, top_logprobs } = options;
  return {
    ...(stop && stop.length > 0 && { stopSequences: [...stop] }),
    ...(frequency_penalty !== undefined && { frequencyPenalty: frequency_penalty }),
    ...(presence_penalty !== undefined && { presencePenalty: presence_penalty }),
    ...(top_logprobs !== undefined && { responseLogprobs: true }),
    ...(top_logprobs && { logprobs: top_logprobs }),
  };
}

type Tier = NonNullable<GeminiRequest["serviceTier"]>;

const TIERS: Readonly<Record<string, Tier>> = {
  default: "standard",
  standard: "standard",
  flex: "flex",
  priority: "priority",
};

/** `auto` is the default of a request without a tier. */
export function encodeTier({ service_tier }: ModelOptions): Pick<GeminiRequest, "serviceTier"> {
  const tier = TIERS[service_tier ?? ""];
  return tier ? { serviceTier: tier } : {};
}

export function omittedOptions({ service_tier = "auto" }: ModelOptions): string[] {
  return service_tier === "auto" || TIERS[service_tier] ? [] : ["service_tier"];
}
