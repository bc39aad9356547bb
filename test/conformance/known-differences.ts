/**
 * The list of all intended differences between a published description and what is sent, each with its
 * reason. A value is changed to what that description requires, and everything else in it is checked.
 *
 * A row is as narrow as possible, and has an example that the description refuses without the row.
 */

import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { eventSchemaOf, type OracleName, typesIn } from "./oracles.ts";

export interface Difference {
  readonly oracle: OracleName;
  /** The kind of value: `item` is one of an output, an event or a list, `tool` one of a response. */
  readonly of: "response" | "event" | "item" | "tool";
  readonly name: string;
  readonly reason: string;
  /** The value in the oracle's form; undefined if it has none at all. */
  readonly adapt: (value: JsonObject) => JsonObject | undefined;
  readonly example: JsonObject;
}

const NO_DESCRIPTION = { type: "json_schema", name: "a", description: null, strict: true };

export const DIFFERENCES: readonly Difference[] = [
  {
    oracle: "openai",
    of: "response",
    name: "`user` is null",
    reason: "The service itself sends null where none was given; the description has a text alone.",
    adapt: (response) => withoutNull(response, "user"),
    example: { user: null },
  },
  {
    oracle: "openai",
    of: "response",
    name: "`usage` is null while the response runs",
    reason: "Recorded so of the service; Open Responses wants the field to be there.",
    adapt: (response) =>
      response["status"] === "completed" ? response : withoutNull(response, "usage"),
    example: { status: "in_progress", usage: null },
  },
  {
    oracle: "openai",
    of: "response",
    name: "`text.format.description` is null",
    reason: "Recorded so of the service; Open Responses wants the field to be there.",
    adapt: withoutNoDescription,
    example: { text: { format: { ...NO_DESCRIPTION, schema: { type: "object" } } } },
  },
  {
    oracle: "openai",
    of: "response",
    name: "`tool_choice` of `web_search`",
    reason:
      "The description has the tool, and among the choices its preview alone; the echo is what was sent.",
    adapt: withKnownType,
    example: { tool_choice: { type: "web_search" } },
  },
  {
    oracle: "openai",
    of: "item",
    name: "items of a vendor's own, `vendor:kind`",
    reason: "What a vendor's own tools say, word for word; Open Responses has this form for it.",
    adapt: (item) => (isVendorsOwn(item) ? undefined : item),
    example: { type: "anthropic:server_tool_use", id: "item_1" },
  },
  {
    oracle: "openai",
    of: "tool",
    name: "unpublished kinds of tools",
    reason: "No request fails for one; the echo is what the client sent.",
    adapt: (tool) => (typesIn("openai", "Tool").has(String(tool["type"])) ? tool : undefined),
    example: { type: "made_up" },
  },
  {
    oracle: "open-responses",
    of: "item",
    name: "kinds of items that the standard does not have",
    reason:
      "Calls of hosted and custom tools are items of the published API, and known to its clients.",
    adapt: (item) => (isKnownItem(item) ? item : undefined),
    example: { type: "custom_tool_call", id: "ctc_1", call_id: "c", name: "sql", input: "" },
  },
  {
    oracle: "open-responses",
    of: "item",
    name: "annotations that the standard does not have",
    reason:
      "It has citations of pages alone; those of files and containers are the published API's.",
    adapt: withKnownAnnotations,
    example: {
      type: "message",
      id: "msg_1",
      status: "completed",
      role: "assistant",
      content: [
        {
          type: "output_text",
          text: "A",
          logprobs: [],
          annotations: [{ type: "file_citation", file_id: "file_1", filename: "a", index: 0 }],
        },
      ],
    },
  },
  {
    oracle: "open-responses",
    of: "tool",
    name: "kinds of tools that the standard does not have",
    reason: "It has functions alone; the others are echoed as the client sent them.",
    adapt: (tool) => (tool["type"] === "function" ? tool : undefined),
    example: { type: "web_search" },
  },
  {
    oracle: "open-responses",
    of: "response",
    name: "choices of tools that the standard does not have",
    reason: "It can name functions alone; the echo is what the client sent.",
    adapt: withKnownChoice,
    example: { tool_choice: { type: "mcp", server_label: "files" } },
  },
  {
    oracle: "open-responses",
    of: "response",
    name: "the schema of `text.format`",
    reason: "The standard's document allows null alone there, and means an object.",
    adapt: withoutSchema,
    example: { text: { format: { ...NO_DESCRIPTION, schema: { type: "object" } } } },
  },
  {
    oracle: "open-responses",
    of: "event",
    name: "`response.reasoning_text.*`",
    reason:
      "The standard calls the same events `response.reasoning.*`; clients of the API know these.",
    adapt: renameReasoning,
    example: {
      type: "response.reasoning_text.delta",
      item_id: "rs_1",
      sequence_number: 0,
      output_index: 0,
      content_index: 0,
      delta: "Hm",
    },
  },
  {
    oracle: "open-responses",
    of: "event",
    name: "events of items that the standard does not have",
    reason: "Progress of hosted and custom tools is told in the published API's events.",
    adapt: (event) => (isUnknownToStandard(event) ? undefined : event),
    example: {
      type: "response.web_search_call.searching",
      item_id: "ws_1",
      output_index: 0,
      sequence_number: 0,
    },
  },
  {
    oracle: "openai",
    of: "event",
    name: "`response.apply_patch_call_operation_diff.*`",
    reason: "The service sends them, and its own description does not have them.",
    adapt: (event) => (isPatchProgress(event) ? undefined : event),
    example: {
      type: "response.apply_patch_call_operation_diff.delta",
      item_id: "apc_1",
      output_index: 0,
      sequence_number: 0,
      delta: "+",
    },
  },
];

/** A response, an event or an item in the form of one oracle; undefined if it has none. */
export function adapt(
  oracle: OracleName,
  of: Difference["of"],
  value: JsonObject,
): JsonObject | undefined {
  let adapted: JsonObject | undefined = value;
  for (const row of DIFFERENCES) {
    if (row.oracle !== oracle || row.of !== of || !adapted) continue;
    adapted = row.adapt(adapted);
  }
  if (!adapted) return undefined;
  if (of === "response") return adaptLists(oracle, adapted);
  if (of !== "event") return adapted;
  return adaptEvent(oracle, adapted);
}

function adaptEvent(oracle: OracleName, event: JsonObject): JsonObject | undefined {
  const { response, item } = event;
  if (isJsonObject(response)) return { ...event, response: adapt(oracle, "response", response) };
  if (!isJsonObject(item)) return event;
  const adapted = adapt(oracle, "item", item);
  return adapted && { ...event, item: adapted };
}

function adaptLists(oracle: OracleName, response: JsonObject): JsonObject {
  const { output, tools } = response;
  const each = (of: "item" | "tool", list: Json | undefined): Json[] =>
    (Array.isArray(list) ? list : []).flatMap((one) => {
      const adapted = isJsonObject(one) ? adapt(oracle, of, one) : one;
      return adapted === undefined ? [] : [adapted];
    });
  return { ...response, output: each("item", output), tools: each("tool", tools) };
}

function withoutNull(value: JsonObject, field: string): JsonObject {
  if (value[field] !== null) return value;
  const { [field]: _, ...rest } = value;
  return rest;
}

function withoutNoDescription(response: JsonObject): JsonObject {
  const { text } = response;
  if (!isJsonObject(text) || !isJsonObject(text["format"])) return response;
  return { ...response, text: { ...text, format: withoutNull(text["format"], "description") } };
}

function withKnownType(response: JsonObject): JsonObject {
  const { tool_choice } = response;
  if (!isJsonObject(tool_choice) || !/^web_search(_2025_08_26)?$/.test(String(tool_choice["type"])))
    return response;
  return { ...response, tool_choice: { type: "web_search_preview" } };
}

function isVendorsOwn({ type }: JsonObject): boolean {
  return typeof type === "string" && /^[a-z0-9_-]+:[\w-]+$/.test(type);
}

function isKnownItem({ type }: JsonObject): boolean {
  return typesIn("open-responses", "ItemField").has(String(type));
}

function withKnownAnnotations(item: JsonObject): JsonObject {
  const { content } = item;
  if (item["type"] !== "message" || !Array.isArray(content)) return item;
  return {
    ...item,
    content: content.map((part) => {
      if (!isJsonObject(part) || !Array.isArray(part["annotations"])) return part;
      const known = part["annotations"].filter(
        (one) => isJsonObject(one) && one["type"] === "url_citation",
      );
      return { ...part, annotations: known };
    }),
  };
}

function withKnownChoice(response: JsonObject): JsonObject {
  const { tool_choice } = response;
  if (!isJsonObject(tool_choice) || tool_choice["type"] === "function") return response;
  const { type, tools } = tool_choice;
  if (type !== "allowed_tools" || !Array.isArray(tools))
    return { ...response, tool_choice: "auto" };
  const known = tools.filter((one) => isJsonObject(one) && one["type"] === "function");
  return { ...response, tool_choice: { ...tool_choice, tools: known } };
}

function withoutSchema(response: JsonObject): JsonObject {
  const { text } = response;
  if (!isJsonObject(text) || !isJsonObject(text["format"])) return response;
  if (text["format"]["type"] !== "json_schema") return response;
  return { ...response, text: { ...text, format: { ...text["format"], schema: null } } };
}

function renameReasoning(event: JsonObject): JsonObject {
  const type = String(event["type"]);
  if (!type.startsWith("response.reasoning_text.")) return event;
  return { ...event, type: type.replace("reasoning_text", "reasoning") };
}

function isUnknownToStandard(event: JsonObject): boolean {
  const type = String(event["type"]);
  if (eventSchemaOf("open-responses", type)) return false;
  return eventSchemaOf("openai", type) !== undefined || isPatchProgress(event);
}

function isPatchProgress({ type }: JsonObject): boolean {
  return String(type).startsWith("response.apply_patch_call_operation_diff.");
}
