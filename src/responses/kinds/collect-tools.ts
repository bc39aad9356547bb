/**
 * The tools of a request, with those that its items bring: `additional_tools`, and found ones. Pure.
 */

import type { Item } from "../../protocol/items.ts";
import type { NamespaceTool, Tool } from "../../protocol/tools.ts";

export function collectTools(items: readonly Item[], tools: readonly Tool[]): readonly Tool[] {
  const brought = items.flatMap((item) => {
    if (item.type === "additional_tools") return item.tools;
    if (item.type !== "tool_search_output") return [];
    // A found entry for an MCP server names it without the secrets to reach it: each request brings those.
    return item.call_id ? item.tools : item.tools.filter(({ type }) => type !== "mcp");
  });
  return joinTools(tools, brought);
}

/** In the order in which they came. A repeated tool replaces the one before; namespaces grow. */
export function joinTools(before: readonly Tool[], brought: readonly Tool[]): readonly Tool[] {
  if (brought.length === 0) return before;
  const all = new Map<string, Tool>();
  const again = new Set(
    brought.filter((tool) => keyOf(tool) === undefined).map(({ type }) => type),
  );
  const kept = before.filter(({ type }) => !again.has(type));
  for (const [at, tool] of [...kept, ...brought].entries()) {
    const key = keyOf(tool) ?? `#${at}`;
    const before = all.get(key);
    const joins = before?.type === "namespace" && tool.type === "namespace";
    all.set(key, joins ? join(before, tool) : tool);
  }
  return [...all.values()];
}

/** The key of a tool, unique in a request; undefined if a tool may occur twice. */
function keyOf(tool: Tool): string | undefined {
  if (tool.type === "mcp") return `mcp ${tool.server_label}`;
  const name = "name" in tool && typeof tool.name === "string" ? tool.name : undefined;
  // For the model, a function and a free-text tool with one name would be the same.
  if (tool.type === "function" || tool.type === "custom") return `tool ${name}`;
  // Each searches stores of its own.
  if (tool.type === "file_search") return undefined;
  return name === undefined ? undefined : `${tool.type} ${name}`;
}

function join(before: NamespaceTool, after: NamespaceTool): NamespaceTool {
  const inner = new Map(before.tools.map((tool) => [tool.name, tool]));
  for (const tool of after.tools) inner.set(tool.name, tool);
  return { ...before, ...after, tools: [...inner.values()] };
}
