/** Converts a checked `generateContent` request to a model request, for the engine inside. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import {
  type ModelRequest,
  type OutputFormat,
  type ReasoningOptions,
  TEXT_FORMAT,
} from "../../providers/provider.ts";
import { numberOf, textOf, toEffort, toOptions } from "../exchange/model-request.ts";
import { partsOf } from "./gemini-contents.ts";

export function decodeGeminiRequest(body: JsonObject, model: string): ModelRequest {
  const config = objectOf(body["generationConfig"]);
  const system = objectOf(body["systemInstruction"]);
  const instructions = partsOf(system).map((part) => textOf(part["text"]) ?? "");
  return {
    model,
    instructions: instructions.length > 0 ? instructions.join("\n\n") : undefined,
    items: decodeContents(listOf(body["contents"])),
    tools: listOf(body["tools"]).flatMap((tool) =>
      listOf(tool["functionDeclarations"]).map(toTool),
    ),
    tool_choice: toToolChoice(objectOf(body["toolConfig"])["functionCallingConfig"]),
    parallel_tool_calls: undefined,
    temperature: numberOf(config["temperature"]),
    top_p: numberOf(config["topP"]),
    max_output_tokens: numberOf(config["maxOutputTokens"]),
    reasoning: toReasoning(objectOf(config["thinkingConfig"])),
    format: toFormat(config),
    previous: undefined,
    ...toOptions(
      config["responseLogprobs"] === true ? (numberOf(config["logprobs"]) ?? 0) : undefined,
    ),
  };
}

/** Calls without ids are numbered, and answered in their order. */
function decodeContents(contents: readonly JsonObject[]): Item[] {
  const open: string[] = [];
  let count = 0;

  function toPartItem(part: JsonObject): Item | undefined {
    const { functionCall: call, functionResponse: response } = part as Record<string, Json>;
    if (isJsonObject(response)) {
      return toOutput(response, textOf(response["id"]) ?? open.shift() ?? "");
    }
    if (!isJsonObject(call)) return undefined;
    const callId = textOf(call["id"]) ?? `call_${++count}`;
    if (call["id"] === undefined) open.push(callId);
    return toCall(call, callId);
  }

  return contents.flatMap((content) => {
    const parts = partsOf(content);
    const words = parts.flatMap((part) => toWords(part, content["role"]));
    const role = content["role"] === "model" ? "assistant" : "user";
    const said = words.length > 0 ? toItems([{ role, content: words }]) : [];
    return [...said, ...parts.flatMap((part) => toPartItem(part) ?? [])];
  });
}

function toCall(call: JsonObject, callId: string): Item {
  return {
    type: "function_call",
    call_id: callId,
    name: String(call["name"]),
    arguments: JSON.stringify(call["args"] ?? {}),
  };
}

function toOutput(response: JsonObject, callId: string): Item {
  const given = objectOf(response["response"]);
  const output = textOf(given["output"]) ?? JSON.stringify(given);
  return { type: "function_call_output", call_id: callId, output };
}

/** The text and media of a part; the engine ignores thoughts, calls and similar parts. */
function toWords(part: JsonObject, role: Json | undefined): Json[] {
  const { text, inlineData, fileData } = part;
  if (part["thought"] === true || text === "") return [];
  if (typeof text === "string") {
    return role === "model"
      ? [{ type: "output_text", text, annotations: [] }]
      : [{ type: "input_text", text }];
  }
  const media = inlineData ?? fileData;
  return isJsonObject(media) ? [toMediaPart(media)] : [];
}

function toMediaPart({ mimeType, data, fileUri }: JsonObject): Json {
  const type = String(mimeType);
  const url = textOf(fileUri) ?? `data:${type};base64,${String(data)}`;
  if (type.startsWith("image/")) return { type: "input_image", image_url: url, detail: "auto" };
  return { type: "input_file", ...(fileUri ? { file_url: url } : { file_data: url }) };
}

function toTool(declaration: JsonObject): Tool {
  const { parameters, parametersJsonSchema } = declaration as Record<string, Json>;
  const schema = parametersJsonSchema ?? parameters;
  return {
    type: "function",
    name: String(declaration["name"]),
    description: textOf(declaration["description"]) ?? null,
    parameters: isJsonObject(schema) ? schema : null,
    strict: false,
  };
}

function toToolChoice(config: Json | undefined): ToolChoice {
  const { mode, allowedFunctionNames: names } = objectOf(config) as Record<string, Json>;
  if (mode === "NONE") return "none";
  if (mode !== "ANY") return "auto";
  const [name, other] = Array.isArray(names) ? names : [];
  return name !== undefined && other === undefined
    ? { type: "function", name: String(name) }
    : "required";
}

function toReasoning({
  includeThoughts,
  thinkingLevel,
  thinkingBudget,
}: JsonObject): ReasoningOptions {
  const level = typeof thinkingLevel === "string" ? thinkingLevel.toLowerCase() : undefined;
  const budget = typeof thinkingBudget === "number" ? toBudgetEffort(thinkingBudget) : undefined;
  return {
    effort: toEffort(level) ?? budget,
    summary: includeThoughts === true ? "auto" : undefined,
  };
}

function toBudgetEffort(budget: number): ReasoningOptions["effort"] {
  if (budget === 0) return "none";
  return budget > 8192 ? "high" : budget > 1024 ? "medium" : "low";
}

function toFormat({
  responseMimeType,
  responseJsonSchema,
  responseSchema,
}: JsonObject): OutputFormat {
  if (responseMimeType !== "application/json") return TEXT_FORMAT;
  const schema = responseJsonSchema ?? responseSchema;
  if (!isJsonObject(schema)) return { type: "json_object" };
  return { type: "json_schema", name: "response", schema, strict: true };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
