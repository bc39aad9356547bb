/** Converts a checked Ollama request to a model request, for the engine inside the upstream. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import {
  type ModelRequest,
  type OutputFormat,
  type ReasoningOptions,
  TEXT_FORMAT,
} from "../../providers/provider.ts";
import { numberOf, textOf, toEffort, toOptions } from "../exchange/model-request.ts";

export function decodeOllamaRequest(body: JsonObject): ModelRequest {
  const messages = objectsIn(body["messages"]);
  const firstOther = messages.findIndex(({ role }) => role !== "system");
  const head = messages.slice(0, firstOther === -1 ? messages.length : firstOther);
  const options = isJsonObject(body["options"]) ? body["options"] : {};
  return {
    model: String(body["model"]),
    instructions:
      head.length > 0 ? head.map(({ content }) => textOf(content) ?? "").join("\n\n") : undefined,
    items: messages.slice(head.length).flatMap(createItemReader()),
    tools: objectsIn(body["tools"]).map(toTool),
    tool_choice: "auto",
    parallel_tool_calls: undefined,
    temperature: numberOf(options["temperature"]),
    top_p: numberOf(options["top_p"]),
    max_output_tokens: numberOf(options["num_predict"]),
    reasoning: { effort: toThinking(body["think"]), summary: undefined },
    format: toFormat(body["format"]),
    previous: undefined,
    ...toOptions(body["logprobs"] === true ? (numberOf(body["top_logprobs"]) ?? 0) : undefined),
  };
}

/** Calls without an id are identified by their order, and a result without one answers the first open call. */
function createItemReader(): (message: JsonObject) => Item[] {
  const unanswered: string[] = [];
  let made = 0;

  function toCall(call: JsonObject): Item {
    const asked = isJsonObject(call["function"]) ? call["function"] : {};
    const call_id = textOf(call["id"]) ?? `call_${made++}`;
    unanswered.push(call_id);
    return {
      type: "function_call",
      call_id,
      name: String(asked["name"]),
      arguments: JSON.stringify(asked["arguments"] ?? {}),
    };
  }

  function toOutput(message: JsonObject): Item {
    const call_id = textOf(message["tool_call_id"]) ?? unanswered[0] ?? "call";
    const at = unanswered.indexOf(call_id);
    if (at >= 0) unanswered.splice(at, 1);
    return { type: "function_call_output", call_id, output: textOf(message["content"]) ?? "" };
  }

  return (message) => {
    const { role, content } = message;
    if (role === "tool") return [toOutput(message)];
    if (role !== "assistant") return toItems([{ role, content: toContent(message) }]);
    const text = textOf(content) ?? "";
    const parts = [{ type: "output_text", text, annotations: [] }];
    return [
      ...toThought(textOf(message["thinking"])),
      ...(text === "" ? [] : toItems([{ role, content: parts }])),
      ...objectsIn(message["tool_calls"]).map(toCall),
    ];
  };
}

function toThought(text: string | undefined): Item[] {
  if (!text) return [];
  return [{ type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }] }];
}

function toContent(message: JsonObject): Json {
  const text = textOf(message["content"]) ?? "";
  const images = Array.isArray(message["images"]) ? message["images"] : [];
  if (images.length === 0) return text;
  return [
    ...images.map((data) => ({
      type: "input_image",
      image_url: `data:image/png;base64,${String(data)}`,
    })),
    { type: "input_text", text },
  ];
}

function toTool(tool: JsonObject): Tool {
  const definition = isJsonObject(tool["function"]) ? tool["function"] : {};
  return {
    type: "function",
    name: String(definition["name"]),
    description: textOf(definition["description"]) ?? null,
    parameters: isJsonObject(definition["parameters"]) ? definition["parameters"] : null,
    strict: false,
  };
}

function toThinking(think: Json | undefined): ReasoningOptions["effort"] {
  if (think === false) return "none";
  return think === true ? "medium" : toEffort(think);
}

function toFormat(format: Json | undefined): OutputFormat {
  if (format === "json") return { type: "json_object" };
  if (!isJsonObject(format)) return TEXT_FORMAT;
  return { type: "json_schema", name: "format", schema: format, strict: true };
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
