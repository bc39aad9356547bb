/** Converts a checked Responses request, of either personality, to a model request. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { type ModelRequest, type OutputFormat, TEXT_FORMAT } from "../../providers/provider.ts";
import {
  numberOf,
  textOf,
  toEffort,
  toOptions,
  toSchemaFormat,
  toSummary,
} from "../exchange/model-request.ts";
import type { ResponseMemory } from "./response-memory.ts";

/** The engine gets the whole conversation, whichever way the client continued it. */
export function decodeResponsesRequest(body: JsonObject, memory: ResponseMemory): ModelRequest {
  const reasoning = isJsonObject(body["reasoning"]) ? body["reasoning"] : {};
  const text = isJsonObject(body["text"]) ? body["text"] : {};
  return {
    model: String(body["model"]),
    instructions: textOf(body["instructions"]),
    items: decodeItems(body, memory),
    tools: listOf(body["tools"]).map(toTool),
    tool_choice: (body["tool_choice"] ?? "auto") as ToolChoice,
    parallel_tool_calls:
      typeof body["parallel_tool_calls"] === "boolean" ? body["parallel_tool_calls"] : undefined,
    temperature: numberOf(body["temperature"]),
    top_p: numberOf(body["top_p"]),
    max_output_tokens: numberOf(body["max_output_tokens"]),
    reasoning: { effort: toEffort(reasoning["effort"]), summary: toSummary(reasoning["summary"]) },
    format: toFormat(text["format"]),
    previous: undefined,
    ...toOptions(isLikelyAsked(body) ? (numberOf(body["top_logprobs"]) ?? 0) : undefined),
  };
}

/** The number alone has no effect. */
function isLikelyAsked({ include }: JsonObject): boolean {
  return Array.isArray(include) && include.includes("message.output_text.logprobs");
}

function decodeItems(body: JsonObject, memory: ResponseMemory): Item[] {
  const previous = textOf(body["previous_response_id"]);
  const history = previous === undefined ? [] : (memory.find(previous) ?? []);
  const { input } = body;
  const items = toItems(
    Array.isArray(input) ? listOf(input).map(fromLegacy) : (textOf(input) ?? ""),
  );
  const resolved = items.map((item) =>
    item.type === "item_reference" ? (memory.findItem(item.id) ?? item) : item,
  );
  return [...history, ...resolved];
}

function fromLegacy(item: JsonObject): JsonObject {
  if (item["type"] !== "tool_result") return item;
  const { tool_call_id: call_id, content: output } = item;
  return { type: "function_call_output", call_id, output };
}

/** The legacy personality also accepts the nested form of chat completions. */
function toTool(tool: JsonObject): Tool {
  const definition = isJsonObject(tool["function"])
    ? { ...tool["function"], type: "function" }
    : tool;
  return definition as unknown as Tool;
}

function toFormat(format: Json | undefined): OutputFormat {
  if (!isJsonObject(format)) return TEXT_FORMAT;
  if (format["type"] === "json_object") return { type: "json_object" };
  return format["type"] === "json_schema" ? toSchemaFormat(format) : TEXT_FORMAT;
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
