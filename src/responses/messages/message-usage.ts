/**
 * Tokens and calls of an answer, as the Messages API counts them: tokens from a cache are not input there.
 */

import type { EmittedItem } from "../../protocol/emitted.ts";
import type { Usage } from "../../protocol/usage.ts";

export interface MessageUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
  output_tokens: number;
  output_tokens_details: { thinking_tokens: number };
  server_tool_use: { web_search_requests: number; web_fetch_requests: number } | null;
  service_tier: "standard";
}

/**
 * The count of a vendor that does not count is 0. Clients would take the context for empty and never compact it: the
 * estimate is nearer.
 */
export function toMessageUsage(
  usage: Usage | null,
  output: readonly EmittedItem[],
  estimate: () => number = NONE,
): MessageUsage {
  const { input_tokens: counted = 0, output_tokens = 0 } = usage ?? {};
  const input_tokens = counted === 0 ? estimate() : counted;
  const details = usage?.input_tokens_details;
  const cached = details?.cached_tokens ?? 0;
  const written = details?.cache_write_tokens ?? 0;
  const hour = details?.cache_write_hour_tokens ?? 0;
  return {
    input_tokens: Math.max(0, input_tokens - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: written - hour, ephemeral_1h_input_tokens: hour },
    output_tokens,
    output_tokens_details: {
      thinking_tokens: usage?.output_tokens_details.reasoning_tokens ?? 0,
    },
    server_tool_use: toServerCalls(usage, output),
    service_tier: "standard",
  };
}

const NONE = (): number => 0;

/** Before the answer: our estimate of the input. Clients use it to show how full the context is. */
export function toEstimatedUsage(inputTokens: number): MessageUsage {
  const none = { cached_tokens: 0, cache_write_tokens: 0 };
  return toMessageUsage(
    {
      input_tokens: inputTokens,
      input_tokens_details: none,
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + 1,
    },
    [],
  );
}

/** The vendor's own count of its calls, plus the calls that were made here. */
function toServerCalls(
  usage: Usage | null,
  output: readonly EmittedItem[],
): MessageUsage["server_tool_use"] {
  const { web_search = 0, web_fetch = 0 } = usage?.native_calls ?? {};
  let searches = web_search;
  let pages = web_fetch;
  for (const item of output) {
    if (item.type !== "web_search_call") continue;
    if (item.action?.type !== "search") pages++;
    else if (web_search === 0) searches++;
  }
  if (searches + pages === 0) return null;
  return { web_search_requests: searches, web_fetch_requests: pages };
}
