/**
 * Calls that the vendor of a Responses API made itself: how many of them it bills, and those that it
 * writes in the words of the client's own calls.
 */

import type { JsonObject } from "../../base/json.ts";
import type { ModelRequest } from "../provider.ts";
import type { Quirks } from "../wire.ts";
import type { WireItem, WireUsage } from "./schema.ts";

export interface OwnCalls {
  /** The item under a name that nobody takes for a call to answer. Any other item as it is. */
  toOwn(item: WireItem): WireItem;
  /** Told of each item that has ended. */
  count(item: WireItem): void;
  /** By the vendor's own count where it gives one, else by the items. */
  counts(usage: WireUsage): Record<string, number>;
}

/** Items that are calls of a tool that is billed by the call. */
const COUNTED: Readonly<Record<string, string>> = {
  web_search_call: "web_search",
  x_search_call: "x_search",
  code_interpreter_call: "code_interpreter",
  code_execution_call: "code_execution",
  collections_search_call: "collections_search",
};

export function createOwnCalls(
  { tools }: Pick<ModelRequest, "tools">,
  { native }: Quirks,
): OwnCalls {
  const made: Record<string, number> = {};
  const offered = new Set(tools.flatMap((tool) => (tool.type === "custom" ? tool.name : [])));
  return {
    toOwn(item) {
      // xAI shows the searches that it makes on X as calls of free-text tools, which have ended.
      const isForeign = item.type === "custom_tool_call" && !offered.has(item.name ?? "");
      if (!native?.mark || !isForeign) return item;
      const { id } = item;
      return { type: `${native.mark}:${item.type}`, id, block: item } as WireItem;
    },
    count(item) {
      const name = native && COUNTED[item.type ?? ""];
      if (name && !isReading(item)) made[name] = (made[name] ?? 0) + 1;
    },
    counts: ({ server_side_tool_usage_details: told }) =>
      told ? toCounts(told as JsonObject) : made,
  };
}

/** A page that was opened is part of the search before it. */
function isReading(item: WireItem): boolean {
  const { action } = item as { action?: { type?: unknown } | null };
  return action?.type === "open_page" || action?.type === "find_in_page";
}

/** `web_search_calls: 2` is two calls of `web_search`. */
function toCounts(told: JsonObject): Record<string, number> {
  const named = Object.entries(told).map(([name, count]) => [
    name.replace(/_calls$/, ""),
    typeof count === "number" ? count : 0,
  ]);
  return Object.fromEntries(named);
}
