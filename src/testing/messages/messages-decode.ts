/** Converts a checked body of the Messages API to a model request, for the engine inside. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { type ModelRequest, type OutputFormat, TEXT_FORMAT } from "../../providers/provider.ts";
import { numberOf, textOf, toEffort } from "../exchange/model-request.ts";
import { blocksOf, listOf, objectOf } from "./messages-json.ts";

export function decodeMessagesRequest(body: JsonObject): ModelRequest {
  const { type } = objectOf(body["thinking"]);
  const effort = toEffort(objectOf(body["output_config"])["effort"]);
  const choice = objectOf(body["tool_choice"]);
  return {
    model: String(body["model"]),
    instructions: toInstructions(body["system"]),
    items: listOf(body["messages"]).flatMap(toItems),
    tools: listOf(body["tools"]).flatMap(toTool),
    tool_choice: toToolChoice(choice),
    parallel_tool_calls: choice["disable_parallel_tool_use"] === true ? false : undefined,
    temperature: numberOf(body["temperature"]),
    top_p: numberOf(body["top_p"]),
    max_output_tokens: numberOf(body["max_tokens"]),
    reasoning: { effort: type === "disabled" ? "none" : effort, summary: undefined },
    format: toFormat(objectOf(body["output_config"])["format"]),
    previous: undefined,
  };
}

function toInstructions(system: Json | undefined): string | undefined {
  if (typeof system === "string") return system;
  const texts = listOf(system).map(({ text }) => textOf(text) ?? "");
  return texts.length > 0 ? texts.join("\n\n") : undefined;
}

function toItems(message: JsonObject): Item[] {
  const isUser = message["role"] === "user";
  const items: Item[] = [];
  let parts: ContentPart[] = [];
  const flush = (): void => {
    if (parts.length === 0) return;
    items.push({ type: "message", role: isUser ? "user" : "assistant", content: parts });
    parts = [];
  };
  for (const block of blocksOf(message)) {
    const item = toItem(block);
    if (item) {
      flush();
      items.push(item);
    } else {
      parts.push(...toPart(block, isUser ? "input_text" : "output_text"));
    }
  }
  flush();
  return items;
}

function toItem(block: JsonObject): Item | undefined {
  if (block["type"] === "tool_use") {
    return {
      type: "function_call",
      call_id: String(block["id"]),
      name: String(block["name"]),
      arguments: JSON.stringify(block["input"] ?? {}),
    };
  }
  if (block["type"] !== "tool_result") return undefined;
  const { content, tool_use_id } = block as { content?: Json; tool_use_id?: Json };
  const output =
    typeof content === "string"
      ? content
      : listOf(content).flatMap((part) => toPart(part, "input_text"));
  return { type: "function_call_output", call_id: String(tool_use_id), output };
}

/** The engine ignores thinking, and items of the vendor's own tools. */
function toPart(block: JsonObject, textType: "input_text" | "output_text"): ContentPart[] {
  const source = objectOf(block["source"]);
  const data = `data:${source["media_type"]};base64,${source["data"]}`;
  const url = textOf(source["url"]);
  if (block["type"] === "text") return [{ type: textType, text: String(block["text"]) }];
  if (block["type"] === "image") return [{ type: "input_image", image_url: url ?? data }];
  if (block["type"] !== "document") return [];
  if (source["type"] === "text") return [{ type: "input_text", text: String(source["data"]) }];
  const filename = textOf(block["title"]) ?? "document.pdf";
  return [{ type: "input_file", filename, ...(url ? { file_url: url } : { file_data: data }) }];
}

function toTool(tool: JsonObject): Tool[] {
  const { input_schema: parameters } = tool;
  if (!isJsonObject(parameters)) return [];
  const description = textOf(tool["description"]) ?? null;
  return [{ type: "function", name: String(tool["name"]), description, parameters, strict: false }];
}

function toToolChoice({ type, name }: JsonObject): ToolChoice {
  if (type === "none") return "none";
  if (type === "any") return "required";
  return type === "tool" ? { type: "function", name: String(name) } : "auto";
}

function toFormat(format: Json | undefined): OutputFormat {
  if (!isJsonObject(format)) return TEXT_FORMAT;
  const schema = objectOf(format["schema"]);
  return { type: "json_schema", name: "output", schema, strict: true };
}
