/** Converts a checked Converse request to a model request, for the engine inside an upstream. */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { type ModelRequest, type OutputFormat, TEXT_FORMAT } from "../../providers/provider.ts";
import { numberOf, textOf, toEffort } from "../exchange/model-request.ts";
import { listOf } from "./converse-messages.ts";

export function decodeConverseRequest(body: JsonObject, model: string): ModelRequest {
  const system = listOf(body["system"]).flatMap(({ text }) => textOf(text) ?? []);
  const inference = objectOf(body["inferenceConfig"]);
  const tools = objectOf(body["toolConfig"]);
  const output = objectOf(body["outputConfig"]);
  return {
    model,
    instructions: system.length > 0 ? system.join("\n\n") : undefined,
    items: listOf(body["messages"]).flatMap(toTurnItems),
    tools: listOf(tools["tools"]).flatMap(toTool),
    tool_choice: toToolChoice(tools["toolChoice"]),
    parallel_tool_calls: undefined,
    temperature: numberOf(inference["temperature"]),
    top_p: numberOf(inference["topP"]),
    max_output_tokens: numberOf(inference["maxTokens"]),
    reasoning: { effort: toEffort(output["effort"]), summary: undefined },
    format: toFormat(objectOf(output["textFormat"])),
    previous: undefined,
  };
}

/** Calls, results and reasoning are items of their own; what is between them is a message. */
function toTurnItems({ role, content }: JsonObject): Item[] {
  const items: Item[] = [];
  let parts: Json[] = [];
  const flush = (): void => {
    if (parts.length > 0) items.push(...toItems([{ role: role ?? "user", content: parts }]));
    parts = [];
  };
  for (const block of listOf(content)) {
    const part = toPart(block, role === "assistant" ? "output_text" : "input_text");
    if (part) {
      parts.push(part);
      continue;
    }
    flush();
    items.push(...toOtherItems(block));
  }
  flush();
  return items;
}

function toPart(block: JsonObject, textType: string): JsonObject | undefined {
  const { text, image, document } = block;
  if (typeof text === "string") {
    return { type: textType, text, ...(textType === "output_text" && { annotations: [] }) };
  }
  if (isJsonObject(image)) {
    const url = `data:image/${String(image["format"])};base64,${bytesOf(image)}`;
    return { type: "input_image", image_url: url, detail: "auto" };
  }
  if (!isJsonObject(document)) return undefined;
  const { name, format } = document;
  const filename = `${String(name)}.${String(format)}`;
  return { type: "input_file", filename, file_data: bytesOf(document) };
}

function bytesOf({ source }: JsonObject): string {
  return textOf(objectOf(source)["bytes"]) ?? "";
}

function toOtherItems({ toolUse, toolResult }: JsonObject): Item[] {
  if (isJsonObject(toolUse)) {
    const { toolUseId, name, input } = toolUse;
    const text = JSON.stringify(input);
    return [
      { type: "function_call", call_id: String(toolUseId), name: String(name), arguments: text },
    ];
  }
  if (!isJsonObject(toolResult)) return [];
  const output = listOf(toolResult["content"]).map(({ text, json }) =>
    typeof text === "string" ? text : JSON.stringify(json ?? ""),
  );
  const call_id = String(toolResult["toolUseId"]);
  return [{ type: "function_call_output", call_id, output: output.join("\n") }];
}

function toTool({ toolSpec }: JsonObject): Tool[] {
  if (!isJsonObject(toolSpec)) return [];
  const schema = objectOf(toolSpec["inputSchema"])["json"];
  return [
    {
      type: "function",
      name: String(toolSpec["name"]),
      description: textOf(toolSpec["description"]) ?? null,
      parameters: isJsonObject(schema) ? schema : null,
      strict: toolSpec["strict"] === true,
    },
  ];
}

function toToolChoice(choice: Json | undefined): ToolChoice {
  const { any, tool } = objectOf(choice);
  if (isJsonObject(tool)) return { type: "function", name: String(tool["name"]) };
  return any === undefined ? "auto" : "required";
}

function toFormat({ structure }: JsonObject): OutputFormat {
  const { schema, name } = objectOf(objectOf(structure)["jsonSchema"]);
  const parsed = typeof schema === "string" ? tryParseJson(schema) : undefined;
  if (!isJsonObject(parsed)) return TEXT_FORMAT;
  return { type: "json_schema", name: textOf(name) ?? "answer", schema: parsed, strict: true };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
