/** Converts a checked chat request to a model request, for the engine inside an upstream. */

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
} from "../exchange/model-request.ts";
import { toolCallsOf } from "./chat-messages.ts";

export function decodeChatRequest(body: JsonObject): ModelRequest {
  const messages = listOf(body["messages"]);
  const isSystem = (message: JsonObject): boolean =>
    message["role"] === "system" || message["role"] === "developer";
  const firstOther = messages.findIndex((message) => !isSystem(message));
  const head = messages.slice(0, firstOther === -1 ? messages.length : firstOther);
  return {
    model: String(body["model"]),
    instructions:
      head.length > 0 ? head.map((message) => textIn(message["content"])).join("\n\n") : undefined,
    items: messages.slice(head.length).flatMap(toMessageItems),
    tools: listOf(body["tools"])
      .filter((tool) => isJsonObject(tool["function"]))
      .map(toTool),
    tool_choice: toToolChoice(body["tool_choice"]),
    parallel_tool_calls:
      typeof body["parallel_tool_calls"] === "boolean" ? body["parallel_tool_calls"] : undefined,
    temperature: numberOf(body["temperature"]),
    top_p: numberOf(body["top_p"]),
    max_output_tokens: numberOf(body["max_completion_tokens"] ?? body["max_tokens"]),
    reasoning: { effort: toEffort(body["reasoning_effort"]), summary: undefined },
    format: toFormat(body["response_format"]),
    previous: undefined,
    ...toOptions(body["logprobs"] === true ? (numberOf(body["top_logprobs"]) ?? 0) : undefined),
  };
}

function toMessageItems(message: JsonObject): Item[] {
  const { role, content } = message as { role?: Json; content?: Json };
  if (role === "tool") {
    const output = textIn(content);
    return [{ type: "function_call_output", call_id: String(message["tool_call_id"]), output }];
  }
  if (role !== "assistant") return toItems([{ role, content: toInputContent(content) }]);
  const text = textIn(content);
  const parts = text === "" ? [] : [{ type: "output_text", text, annotations: [] }];
  const said = parts.length > 0 ? toItems([{ role, content: parts }]) : [];
  return [...said, ...toolCallsOf(message).map(toCallItem)];
}

function toCallItem(call: JsonObject): Item {
  const made = isJsonObject(call["function"]) ? call["function"] : {};
  return {
    type: "function_call",
    call_id: String(call["id"]),
    name: String(made["name"]),
    arguments: String(made["arguments"]),
  };
}

function toInputContent(content: Json | undefined): Json {
  if (!Array.isArray(content)) return textIn(content);
  return listOf(content).map((part): Json => {
    const inner = part[String(part["type"])];
    const fields = isJsonObject(inner) ? inner : {};
    if (part["type"] === "image_url") {
      return {
        type: "input_image",
        image_url: textOf(fields["url"]),
        detail: textOf(fields["detail"]) ?? "auto",
      };
    }
    if (part["type"] === "file") return { type: "input_file", ...fields };
    if (part["type"] === "input_audio") return { type: "input_audio", input_audio: fields };
    return { type: "input_text", text: textOf(part["text"]) ?? "" };
  });
}

/** A message's text, in either of its two forms. */
function textIn(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => textOf(part["text"]) ?? "")
    .join("");
}

function toTool(tool: JsonObject): Tool {
  const definition = isJsonObject(tool["function"]) ? tool["function"] : {};
  const parameters = isJsonObject(definition["parameters"]) ? definition["parameters"] : null;
  return {
    type: "function",
    name: String(definition["name"]),
    description: textOf(definition["description"]) ?? null,
    parameters,
    strict: definition["strict"] === true,
  };
}

function toToolChoice(choice: Json | undefined): ToolChoice {
  if (choice === "none" || choice === "required") return choice;
  if (!isJsonObject(choice) || !isJsonObject(choice["function"])) return "auto";
  return { type: "function", name: String(choice["function"]["name"]) };
}

function toFormat(format: Json | undefined): OutputFormat {
  if (!isJsonObject(format)) return TEXT_FORMAT;
  if (format["type"] === "json_object") return { type: "json_object" };
  const named = format["json_schema"];
  return isJsonObject(named) ? toSchemaFormat(named) : TEXT_FORMAT;
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
