/** The options that the Messages API supports, and their values that it does not support. */

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

/** `auto` uses the account's priority tier if it has one. It is the default of a request without a tier. */
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
    // The API has one field for the user's id; the newer parameter fills it.
    ...(user !== undefined && safety_identifier !== user ? ["user"] : []),
    ...(prompt_cache_retention !== undefined && !isKept ? ["prompt_cache_retention"] : []),
  ];
}

/** The API refuses blank stop texts. */
function isSayable(text: string): boolean {
  return text.trim() !== "";
}
