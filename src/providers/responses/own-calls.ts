/**
 * Calls that the vendor of a Responses API made itself: how many of them it bills, those that it writes in the form of
 * the client's own calls, and the tools that it listed for them.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ModelRequest } from "../provider.ts";
import type { Quirks } from "../wire.ts";
import type { WireItem, WireUsage } from "./schema.ts";

export interface OwnCalls {
  /** The item under a type that does not look like a call to answer. Any other item unchanged. */
  toOwn(item: WireItem): WireItem;
  /** Call it for each item that has ended. */
  count(item: WireItem): void;
  /** The vendor's own counts if it sends them, otherwise those of the items. */
  counts(usage: WireUsage): Record<string, number>;
}

/** Items that are calls of a tool that is billed for each call. */
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
      // xAI shows its searches on X as calls of free-text tools that have ended.
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

/** True for opening a page, which is part of the search before it. */
function isReading(item: WireItem): boolean {
  const { action } = item as { action?: { type?: unknown } | null };
  return action?.type === "open_page" || action?.type === "find_in_page";
}

/** Reads counts: `web_search_calls: 2` is two calls of `web_search`. */
function toCounts(told: JsonObject): Record<string, number> {
  const named = Object.entries(told).map(([name, count]) => [
    name.replace(/_calls$/, ""),
    typeof count === "number" ? count : 0,
  ]);
  return Object.fromEntries(named);
}

/**
 * The tools of an MCP server. OpenAI ends the item while its list is still empty, and sends the tools only in the
 * answer's last event. So an item with an empty list is ended there.
 */
export function isUnlisted(item: WireItem): boolean {
  return item.type === "mcp_list_tools" && countTools(item) === 0;
}

/** The `mcp_list_tools` item with its tools, if `output` has it. */
export function findListed({ id }: WireItem, output: unknown): WireItem | undefined {
  const items: readonly unknown[] = Array.isArray(output) ? output : [];
  return items
    .filter(isJsonObject)
    .find((item) => item["id"] === id && item["type"] === "mcp_list_tools" && countTools(item) > 0);
}

function countTools(item: WireItem | JsonObject): number {
  const { tools } = item as { tools?: unknown };
  return Array.isArray(tools) ? tools.length : 0;
}
