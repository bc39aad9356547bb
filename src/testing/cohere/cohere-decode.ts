/** Converts a checked body of Cohere's chat API to a model request, for the engine inside the upstream. */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import {
  type ModelRequest,
  type OutputFormat,
  type ReasoningOptions,
  TEXT_FORMAT,
} from "../../providers/provider.ts";
import { numberOf, textOf } from "../exchange/model-request.ts";
import { objectOf, objectsIn, partsOf } from "./cohere-json.ts";

export function decodeCohereRequest(body: JsonObject): ModelRequest {
  const messages = objectsIn(body["messages"]);
  const system = messages.filter(({ role }) => role === "system");
  const instructions = system.map(toText).join("\n\n") || undefined;
  return {
    model: String(body["model"]),
    instructions,
    items: messages.filter(({ role }) => role !== "system").flatMap(toItems),
    tools: body["tool_choice"] === "NONE" ? [] : objectsIn(body["tools"]).map(toTool),
    tool_choice: body["tool_choice"] === "REQUIRED" ? "required" : "auto",
    parallel_tool_calls: undefined,
    temperature: numberOf(body["temperature"]),
    top_p: numberOf(body["p"]),
    max_output_tokens: numberOf(body["max_tokens"]),
    reasoning: { effort: toEffort(objectOf(body["thinking"])), summary: undefined },
    format: toFormat(body["response_format"], instructions),
    previous: undefined,
  };
}

function toItems(message: JsonObject): Item[] {
  const { role, tool_call_id } = message;
  if (role === "tool") {
    return [
      { type: "function_call_output", call_id: String(tool_call_id), output: toText(message) },
    ];
  }
  if (role === "user") {
    const content = textOf(message["content"]) ?? partsOf(message).flatMap(toPart);
    return [{ type: "message", role, content }];
  }
  const text = [textOf(message["tool_plan"]) ?? "", toText(message)].filter(Boolean).join("\n");
  const parts = [{ type: "output_text" as const, text, annotations: [] }];
  return [
    ...(text === ""
      ? []
      : [{ type: "message" as const, role: "assistant" as const, content: parts }]),
    ...objectsIn(message["tool_calls"]).map(toCall),
  ];
}

function toText(message: JsonObject): string {
  const texts = partsOf(message).map(({ text }) => textOf(text) ?? "");
  return texts.filter((text) => text !== "").join("\n");
}

function toPart(part: JsonObject): ContentPart[] {
  if (part["type"] === "text") return [{ type: "input_text", text: String(part["text"]) }];
  return [{ type: "input_image", image_url: String(objectOf(part["image_url"])["url"]) }];
}

function toCall(call: JsonObject): Item {
  const { name, arguments: given } = objectOf(call["function"]);
  return {
    type: "function_call",
    call_id: String(call["id"]),
    name: String(name),
    arguments: String(given),
  };
}

function toTool(tool: JsonObject): Tool {
  const { name, description, parameters } = objectOf(tool["function"]);
  return {
    type: "function",
    name: String(name),
    description: textOf(description) ?? null,
    parameters: isJsonObject(parameters) ? parameters : null,
    strict: false,
  };
}

function toEffort({ type, token_budget }: JsonObject): ReasoningOptions["effort"] {
  if (type === "disabled") return "none";
  if (type !== "enabled") return undefined;
  return token_budget === undefined ? "high" : "low";
}

/** The model reads a schema that is in the instructions there. */
function toFormat(format: Json | undefined, instructions = ""): OutputFormat {
  const { type, json_schema } = objectOf(format);
  const told = /fits this JSON schema:\n(\{.*\})/.exec(instructions)?.[1];
  const schema = json_schema ?? tryParseJson(told ?? "");
  if (isJsonObject(schema)) return { type: "json_schema", name: "output", schema, strict: true };
  return type === "json_object" ? { type } : TEXT_FORMAT;
}
