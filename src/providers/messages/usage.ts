/** Adds up the tokens of an answer from the counts in its events. */

import type { JsonObject } from "../../base/json.ts";
import { toUsage, type Usage } from "../../protocol/usage.ts";
import type { MessagesUsage } from "./schema.ts";

export interface UsageCount {
  /** Reads the counts of the first event, which has only the first few output tokens. */
  begin(usage: MessagesUsage | null | undefined): void;
  /** A later event replaces the counts that it names and leaves the others. */
  add(usage: MessagesUsage | null | undefined): void;
  total(): Usage;
  /** The counts before the end; no output until an event has counted it. */
  current(): Usage;
}

export function createUsageCount(): UsageCount {
  let counted: MessagesUsage = {};
  let hasOutput = false;
  const merge = (usage: MessagesUsage | null | undefined): void => {
    const named = Object.entries(usage ?? {}).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    counted = { ...counted, ...Object.fromEntries(named) };
  };
  return {
    begin: merge,
    add(usage) {
      merge(usage);
      hasOutput ||= usage?.output_tokens !== undefined;
    },
    current() {
      const usage = this.total();
      return hasOutput ? usage : { ...usage, output_tokens: 0, total_tokens: usage.input_tokens };
    },
    total() {
      const compactions = (counted.iterations ?? []).filter(({ type }) => type === "compaction");
      const all = [counted, ...compactions];
      const sum = (count: (usage: MessagesUsage) => number | null | undefined): number =>
        all.reduce((total, usage) => total + (count(usage) ?? 0), 0);
      const cached = sum((usage) => usage.cache_read_input_tokens);
      const cacheWrite = sum((usage) => usage.cache_creation_input_tokens);
      return toUsage({
        input: sum((usage) => usage.input_tokens) + cached + cacheWrite,
        cached,
        cacheWrite,
        cacheWriteHour: sum((usage) => usage.cache_creation?.ephemeral_1h_input_tokens),
        output: sum((usage) => usage.output_tokens),
        reasoning: counted.output_tokens_details?.thinking_tokens ?? 0,
        nativeCalls: callsIn(counted.server_tool_use ?? {}),
      });
    },
  };
}

/** `web_search_requests: 2` is two calls of `web_search`. */
function callsIn(counts: JsonObject): Record<string, number> {
  const named = Object.entries(counts).map(([name, count]) => [
    name.replace(/_requests$/, ""),
    typeof count === "number" ? count : 0,
  ]);
  return Object.fromEntries(named);
}
