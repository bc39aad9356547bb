/**
 * A model request as a chat completions body.
 *
 * Chat has messages where we have items: an assistant's text and the calls right behind it are one
 * message there, and every call must be answered by a `tool` message before anything else comes.
 */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { FunctionCall, FunctionCallOutput, Item, Message } from "../../protocol/items.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { JSON_RULE, mentionsJson } from "../json-rule.ts";
import { readOwnReasoning } from "../own-reasoning.ts";
import type { ModelRequest, OutputFormat } from "../provider.ts";
import { type Quirks, toBody } from "../wire.ts";

export function encodeRequest(request: ModelRequest, quirks: Quirks): JsonObject {
  const { model, temperature, topP, maxOutputTokens, reasoning, parallelToolCalls } = request;
  const tools = request.tools.flatMap(encodeTool);
  const effort = reasoning.effort === "none" && !quirks.effortNone ? undefined : reasoning.effort;
  const body: JsonObject = {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: encodeMessages(request, quirks),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? encodeToolChoice(request.toolChoice) : undefined,
    parallel_tool_calls: tools.length > 0 ? parallelToolCalls : undefined,
    temperature,
    top_p: topP,
    [quirks.maxTokensField ?? "max_tokens"]: maxOutputTokens,
    reasoning_effort: effort,
    response_format: encodeFormat(request.format, quirks),
  };
  return toBody(body, quirks);
}

function encodeTool(tool: Tool): JsonObject[] {
  if (tool.type !== "function") return [];
  const { name, description, parameters, strict } = tool;
  const described = toBody({
    name,
    description: description ?? undefined,
    parameters: parameters ?? { type: "object", properties: {} },
    strict: strict || undefined,
  });
  return [{ type: "function", function: described }];
}

function encodeToolChoice(choice: ToolChoice): string | JsonObject {
  if (typeof choice === "string") return choice;
  if (choice.type === "function") return { type: "function", function: { name: choice.name } };
  return "auto";
}

function encodeFormat(format: OutputFormat, quirks: Quirks): JsonObject | undefined {
  if (format.type === "text") return undefined;
  if (format.type === "json_object" || quirks.jsonSchema === false) return { type: "json_object" };
  const { name, schema, strict } = format;
  return { type: "json_schema", json_schema: { name, schema, strict } };
}

function encodeMessages(request: ModelRequest, quirks: Quirks): JsonObject[] {
  const messages = new MessageList(quirks);
  const instructions = toInstructions(request, quirks);
  if (instructions) messages.add({ role: "system", content: instructions });
  for (const item of request.items) messages.addItem(item);
  return messages.finish();
}

/**
 * A vendor with no words for a schema is told it in the instructions; the answer is checked anyway.
 * One asked for an object must be told in words as well: the API refuses a request without "JSON".
 */
function toInstructions(
  { instructions, items, format }: ModelRequest,
  quirks: Quirks,
): string | undefined {
  const rules: string[] = [];
  if (format.type === "json_schema" && quirks.jsonSchema === false) {
    rules.push(`${JSON_RULE} It fits this JSON schema:\n${JSON.stringify(format.schema)}`);
  }
  if (format.type === "json_object" && !mentionsJson(instructions, items)) rules.push(JSON_RULE);
  return instructions === undefined && rules.length === 0
    ? undefined
    : [instructions, ...rules].filter(Boolean).join("\n\n");
}

/** Collects messages; holds back what chat wants in another place than the items have it. */
class MessageList {
  readonly #quirks: Quirks;
  readonly #messages: JsonObject[] = [];
  /** Images that a tool gave; chat takes none in a `tool` message, so a user's follows them all. */
  #images: JsonObject[] = [];
  #reasoning: string | undefined;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  add(message: JsonObject): void {
    this.#flushImages();
    this.#messages.push(message);
  }

  addItem(item: Item): void {
    switch (item.type) {
      case "message":
        return this.#addMessage(item);
      case "function_call":
        return this.#addCall(item);
      case "function_call_output":
        return this.#addOutput(item);
      case "reasoning":
        this.#reasoning = readOwnReasoning(item);
        return;
      default:
      // Items of tools that other vendors run themselves have no place in a chat.
    }
  }

  finish(): JsonObject[] {
    this.#flushImages();
    return this.#messages;
  }

  #addMessage({ role, content }: Message): void {
    if (role === "assistant") {
      return this.add(this.#withReasoning({ role, content: toPlainText(content) }));
    }
    // What was thought before belongs to a turn that ended without a word.
    this.#reasoning = undefined;
    const encoded = typeof content === "string" ? content : encodeParts(content);
    this.add({
      // The newer word for the same role is known to a few servers only.
      role: role === "developer" ? "system" : role,
      content: encoded,
    });
  }

  #addCall({ call_id, name, arguments: text }: FunctionCall): void {
    const call = { id: call_id, type: "function", function: { name, arguments: text } };
    const last = this.#messages.at(-1);
    if (last?.["role"] !== "assistant") {
      return this.add(
        this.#withReasoning({ role: "assistant", content: null, tool_calls: [call] }),
      );
    }
    const calls = (last["tool_calls"] as JsonObject[] | undefined) ?? [];
    this.#messages[this.#messages.length - 1] = { ...last, tool_calls: [...calls, call] };
  }

  #addOutput({ call_id, output }: FunctionCallOutput): void {
    this.#messages.push({ role: "tool", tool_call_id: call_id, content: toPlainText(output) });
    if (typeof output === "string") return;
    for (const part of output) if (part.type === "input_image") this.#images.push(encodePart(part));
  }

  #flushImages(): void {
    if (this.#images.length === 0) return;
    this.#messages.push({ role: "user", content: this.#images });
    this.#images = [];
  }

  #withReasoning(message: JsonObject): JsonObject {
    const { reasoningField } = this.#quirks;
    const reasoning = this.#reasoning;
    this.#reasoning = undefined;
    return reasoningField && reasoning ? { ...message, [reasoningField]: reasoning } : message;
  }
}

/** Plain text stays a string: some servers take nothing else. */
function encodeParts(parts: readonly ContentPart[]): string | JsonObject[] {
  const isText = parts.every((part) => part.type === "input_text" || part.type === "output_text");
  return isText ? toPlainText(parts) : parts.map(encodePart);
}

function encodePart(part: ContentPart): JsonObject {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return { type: "text", text: part.text };
    case "input_image":
      return { type: "image_url", image_url: encodeImage(part) };
    case "input_audio":
      return { type: "input_audio", input_audio: encodeAudio(part) };
    case "input_file":
      return { type: "file", file: encodeFile(part) };
    default:
      throw new Failure("invalid_request", `A chat model takes no \`${part.type}\` part.`);
  }
}

function encodeImage({
  image_url,
  detail,
}: Extract<ContentPart, { type: "input_image" }>): JsonObject {
  if (!image_url) {
    throw new Failure(
      "invalid_request",
      "A chat model takes images by URL or data, not by file id.",
    );
  }
  return toBody({ url: image_url, detail: detail ?? undefined });
}

function encodeAudio(part: Extract<ContentPart, { type: "input_audio" }>): JsonObject {
  const { input_audio, data, format } = part;
  return input_audio ?? toBody({ data, format });
}

function encodeFile(part: Extract<ContentPart, { type: "input_file" }>): JsonObject {
  const { file_id, filename, file_data } = part;
  if (!file_id && !file_data) {
    throw new Failure(
      "invalid_request",
      "A chat model takes files by data or file id, not by URL.",
    );
  }
  return toBody({
    file_id: file_id ?? undefined,
    filename: filename ?? undefined,
    file_data: file_data ?? undefined,
  });
}

function toPlainText(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((part) => {
    if (part.type === "input_text" || part.type === "output_text") return part.text;
    if (part.type === "refusal") return part.refusal;
    return part.type === "input_image" ? "[image below]" : "";
  });
  return texts.filter((text) => text !== "").join("\n");
}
