/**
 * The tools of an MCP server. OpenAI ends the item while its list is still empty, and sends the tools only
 * in the answer's last event. So an item with an empty list is ended there.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { WireItem } from "./schema.ts";

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
