/**
 * `tool_search`: the model looks for tools that it was not told of. A client that searches itself gets
 * the call and sends what it found; a server that was to search offers everything at once instead, so
 * that there is nothing left to look for.
 *
 * The items that bring tools with them (`tool_search_output`, `additional_tools`) are read by
 * `collect-tools.ts`; of them the model reads names alone.
 */

import type { ToolSearchCall } from "../../protocol/hosted-items.ts";
import type { FunctionCall } from "../../protocol/items.ts";
import type { Tool, ToolSearchTool } from "../../protocol/tools.ts";
import type { Offer, ToolKind } from "../bridge/tool-kind.ts";
import { readArguments, statusOf } from "./arguments.ts";

const KEY = "tool_search";

export const TOOL_SEARCH_KIND: ToolKind = {
  toolTypes: ["tool_search"],
  itemTypes: ["tool_search_call", "tool_search_output", "additional_tools"],
  async open(tool: Tool) {
    const search = tool as ToolSearchTool;
    if (search.execution === "client") return { offers: [toOffer(search)] };
    return { offers: [], ignored: ["tools (tool_search: all tools are offered at once)"] };
  },
  keyOf: (item) => (item.type === "tool_search_call" ? KEY : undefined),
  toFunctions(item, nameOf) {
    // A search without a `call_id` was the vendor's own, and cannot be told from others.
    if (item.type === "tool_search_call" && item.call_id) {
      const text = toText(item.arguments);
      return [{ type: "function_call", call_id: item.call_id, name: nameOf(KEY), arguments: text }];
    }
    if (item.type !== "tool_search_output" || !item.call_id) return [];
    const output = describeFound(item.tools);
    return [{ type: "function_call_output", call_id: item.call_id, output }];
  },
};

function toOffer({ description, parameters }: ToolSearchTool): Offer {
  return {
    key: KEY,
    spec: {
      type: "function",
      name: KEY,
      description: description ?? "Looks for tools that may help; those found can be called next.",
      parameters: parameters ?? USUAL_PARAMETERS,
      strict: false,
    },
    isMeantBy: (choice) => choice["type"] === "tool_search",
    shows: "nothing",
    toItem: (call, id) => toSearchCall(call, id),
  };
}

const USUAL_PARAMETERS = {
  type: "object",
  properties: {
    query: { type: "string", description: "Words for what the tool should do." },
    limit: { type: "integer", description: "How many tools to find at most." },
  },
  required: ["query"],
  additionalProperties: false,
};

function toSearchCall(call: FunctionCall, id: string): ToolSearchCall {
  const { call_id, arguments: text } = call;
  const found = { type: "tool_search_call", id, call_id, execution: "client" } as const;
  return { ...found, arguments: readArguments(text), status: statusOf(call) };
}

function toText(value: ToolSearchCall["arguments"]): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function describeFound(tools: readonly Tool[]): string {
  const names = tools.flatMap((tool) => {
    if (tool.type === "namespace") return tool.tools.map(({ name }) => `${tool.name}__${name}`);
    return "name" in tool && typeof tool.name === "string" ? [tool.name] : [tool.type];
  });
  return names.length === 0 ? "No tools were found." : `Found: ${names.join(", ")}.`;
}
