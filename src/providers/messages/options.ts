/** The wishes that the Messages API has words for, and those values of them for which it has none. */

import { markFor } from "../cache-marks.ts";
import type { OptionName } from "../known-options.ts";
import type { ModelOptions } from "../provider.ts";
import type { Quirks } from "../wire.ts";
import type { MessagesBody } from "./schema.ts";

export const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "service_tier",
  "user",
  "safety_identifier",
  "prompt_cache_retention",
]);

type Tier = NonNullable<MessagesBody["service_tier"]>;

/** `auto` takes the account's priority where it has some, and is what a request without a word gets. */
const TIERS: Readonly<Record<string, Tier>> = {
  auto: "auto",
  priority: "auto",
  default: "standard_only",
  standard_only: "standard_only",
};

export function encodeOptions(options: ModelOptions): Partial<MessagesBody> {
  const stops = options.stop?.filter(isSayable) ?? [];
  const user_id = options.safety_identifier ?? options.user;
  return {
    stop_sequences: stops.length > 0 ? stops : undefined,
    service_tier: TIERS[options.service_tier ?? ""],
    metadata: user_id === undefined ? undefined : { user_id },
  };
}

export function omittedOptions(options: ModelOptions, { refuses = [] }: Quirks): string[] {
  const { stop, service_tier, user, safety_identifier = user, prompt_cache_retention } = options;
  const isKept = markFor(prompt_cache_retention) && !refuses.includes("cache_control");
  return [
    ...(stop?.every(isSayable) === false ? ["stop"] : []),
    ...(service_tier !== undefined && !TIERS[service_tier] ? ["service_tier"] : []),
    // There is one place for whoever is asking, and the newer word takes it.
    ...(user !== undefined && safety_identifier !== user ? ["user"] : []),
    ...(prompt_cache_retention !== undefined && !isKept ? ["prompt_cache_retention"] : []),
  ];
}

/** The API refuses to stop at blanks. */
function isSayable(text: string): boolean {
  return text.trim() !== "";
}
