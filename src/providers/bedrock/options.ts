/** The options that Converse supports for models of every maker. */

import type { OptionName } from "../known-options.ts";
import type { ModelOptions } from "../provider.ts";
import { keepsFor } from "./cache-points.ts";
import { claudeVersion, type ModelId } from "./model-id.ts";
import type { ConverseBody, ConverseServiceTier } from "./schema.ts";

export const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "service_tier",
  "prompt_cache_retention",
]);

/** The texts at which the model stops. Claude refuses blank ones. */
export function stopsOf({ stop = [] }: ModelOptions, model: ModelId): readonly string[] {
  const isClaude = claudeVersion(model) !== undefined;
  return stop.filter((text) => (isClaude ? text.trim() !== "" : text !== ""));
}

const TIERS: readonly ConverseServiceTier[] = ["default", "flex", "priority", "reserved"];

/** `auto` is the default of a request without a tier. */
export function encodeTier({ service_tier }: ModelOptions): Pick<ConverseBody, "serviceTier"> {
  const type = TIERS.find((tier) => tier === service_tier);
  return type ? { serviceTier: { type } } : {};
}

export function omittedOptions(options: ModelOptions, model: ModelId): string[] {
  const { stop = [], service_tier = "auto", prompt_cache_retention: retention } = options;
  const isTold = service_tier === "auto" || TIERS.some((tier) => tier === service_tier);
  return [
    ...(stopsOf(options, model).length < stop.length ? ["stop"] : []),
    ...(isTold ? [] : ["service_tier"]),
    ...(retention === undefined || keepsFor(model, retention) ? [] : ["prompt_cache_retention"]),
  ];
}
