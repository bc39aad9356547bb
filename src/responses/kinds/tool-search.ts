/**
 * `tool_search`: the model searches tools with `defer_loading`, which it did not get at first. A client that searches
 * itself gets the call and sends what it found; else this server searches, and what it finds is offered from the next
 * turn on (`bridge/deferred-tools.ts`).
 *
 * The items that bring tools with them (`tool_search_output`, `additional_tools`) are read by `collect-tools.ts`; the
 * model only reads the tools' names in them.
 */

import { asJson, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { ToolSearchTool } from "../../protocol/hosted-kinds/tool-search.ts";
import { TOOL_SEARCH, type ToolSearchCall } from "../../protocol/hosted-kinds/tool-search.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { FunctionTool, Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import { type Tool as GateTool, ToolOutput } from "../../tools/tool.ts";
import { readArguments, readCount, readText, readTexts, statusOf } from "./arguments.ts";
import { findTools, listDeferred, type ToolQuery } from "./find-tools.ts";
import { type DeferredTool, type Offer, type ToolKind, typesOf } from "./tool-kind.ts";

const KEY = "tool_search";

export const TOOL_SEARCH_KIND: ToolKind = {
  toolTypes: typesOf(TOOL_SEARCH).toolTypes,
  itemTypes: [...typesOf(TOOL_SEARCH).itemTypes, "additional_tools"],
  finds: true,
  async open(tool: Tool, { deferred = [] }) {
    const search = tool as ToolSearchTool;
    if (search.execution === "client") return { offers: [toClientOffer(search)] };
    if (deferred.length > 0) return { offers: [toOwnOffer(deferred)] };
    return { offers: [], ignored: ["tools (tool_search: no tool has `defer_loading`)"] };
  },
  keyOf: (item) => (item.type === "tool_search_call" ? KEY : undefined),
  toFunctions(item, nameOf) {
    if (item.type === "tool_search_call" && item.call_id) {
      const text = toText(item.arguments);
      return [{ type: "function_call", call_id: item.call_id, name: nameOf(KEY), arguments: text }];
    }
    if (item.type !== "tool_search_output" || !item.call_id) return [];
    const output = describeFound(item.tools);
    return [{ type: "function_call_output", call_id: item.call_id, output }];
  },
  pair: pairSearches,
};

/**
 * Searches of a server have no `call_id`: a result belongs to the oldest search that waits for one.
 */
function pairSearches(items: readonly Item[]): readonly Item[] {
  const waiting: string[] = [];
  return items.map((item, at) => {
    if (item.type === "tool_search_call" && !item.call_id) {
      const call_id = item.id || `${KEY}_${at}`;
      // An interrupted search has found nothing.
      if (item.status !== "incomplete" && item.status !== "in_progress") waiting.push(call_id);
      return { ...item, call_id };
    }
    if (item.type !== "tool_search_output" || item.call_id) return item;
    const call_id = waiting.shift();
    return call_id === undefined ? item : { ...item, call_id };
  });
}

function toClientOffer({ description, parameters }: ToolSearchTool): Offer {
  return {
    key: KEY,
    spec: {
      type: "function",
      name: KEY,
      description: description ?? "Looks for tools that may help; those found can be called next.",
      parameters: parameters ?? USUAL_PARAMETERS,
      strict: false,
    },
    isMeantBy,
    shows: "nothing",
    toItem: (call, id) => toSearchCall(call, id),
  };
}

function isMeantBy(choice: JsonObject): boolean {
  return choice["type"] === "tool_search";
}

function toOwnOffer(deferred: readonly DeferredTool[]): Offer {
  const tool = createSearch(deferred);
  return {
    key: KEY,
    spec: tool.spec,
    isMeantBy,
    shows: "nothing",
    toItem: ({ arguments: text }, id) => ({
      type: "tool_search_call",
      id,
      call_id: null,
      execution: "server",
      arguments: readArguments(text),
      status: "in_progress",
    }),
    run: {
      tool,
      toArguments: (item) => toText(item.type === "tool_search_call" ? item.arguments : {}),
      show: showFound,
    },
  };
}

function createSearch(deferred: readonly DeferredTool[]): GateTool {
  return {
    spec: toSearchSpec(deferred),
    readOnly: true,
    effect: "own",
    parse: toQuestion,
    async run(question) {
      const found = findTools(deferred, question as ToolQuery);
      return new ToolOutput(describeFound(found), [], { details: asJson(found) });
    },
  };
}

function toSearchSpec(deferred: readonly DeferredTool[]): FunctionTool {
  return {
    type: "function",
    name: KEY,
    description: `Finds tools that are not listed yet; those it finds can be called next. Look here before you say that something cannot be done. There are:\n${listDeferred(deferred)}`,
    parameters: {
      type: "object",
      properties: {
        paths: {
          type: "array",
          items: { type: "string" },
          description: "Names from the list above, to get what they stand for.",
        },
        ...USUAL_PARAMETERS.properties,
      },
      additionalProperties: false,
    },
    strict: false,
  };
}

/** Models write one name as a text, or words under a name of their own. */
function toQuestion(input: Json): ToolQuery {
  const given = isJsonObject(input) ? input : { query: input };
  const { paths, limit, ...others } = given;
  const words = Object.values(others).map((value) => readText(value));
  return { paths: readTexts(paths), query: words.join(" "), limit: readCount(limit) ?? undefined };
}

function showFound(item: Item, { details, failed }: ToolResult): Item[] {
  const status = failed ? "incomplete" : "completed";
  const tools = (Array.isArray(details) ? details : []) as unknown as Tool[];
  return [
    { ...item, status } as Item,
    { type: "tool_search_output", call_id: null, execution: "server", status, tools },
  ];
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
    if (tool.type === "mcp" && Array.isArray(tool.allowed_tools)) {
      return tool.allowed_tools.map((name) => `${tool.server_label}__${name}`);
    }
    return "name" in tool && typeof tool.name === "string" ? [tool.name] : [tool.type];
  });
  return names.length === 0
    ? "No tools were found. Other words may find some."
    : `Found: ${names.join(", ")}.`;
}
