/**
 * Encodes a model request as a chat completions body.
 *
 * Chat has messages where we have items: an assistant's text and the calls directly after it are one
 * message there, and every call must be answered by a `tool` message before anything else.
 */

import type { JsonObject } from "../../base/json.ts";
import type {
  FunctionCall,
  FunctionCallOutput,
  Item,
  Message,
  Reasoning,
} from "../../protocol/items.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { JSON_RULE, mentionsJson, toSchemaRule } from "../json-rule.ts";
import { allowedTools, isForced } from "../offered-tools.ts";
import { readOwnReasoning } from "../own-reasoning.ts";
import type { ModelOptions, ModelRequest, OutputFormat } from "../provider.ts";
import { toOwnTool } from "../vendors/native-tools.ts";
import { type Quirks, toBody } from "../wire.ts";
import { type Caching, encodeCaching } from "./caching.ts";
import { isMistral, toMistralMessages, toMistralParts } from "./mistral.ts";
import { encodeParts, mediaOf, toPlainText } from "./parts.ts";
import { unsealChat } from "./reasoning-details.ts";

export function encodeRequest(request: ModelRequest, quirks: Quirks): JsonObject {
  const { model, temperature, top_p, max_output_tokens, reasoning, parallel_tool_calls } = request;
  const { options, whole = false } = request;
  const tools = allowedTools(request.tools, request.tool_choice).flatMap((tool) =>
    encodeTool(tool, quirks),
  );
  const caching = encodeCaching(request, quirks);
  const isOff = reasoning.effort === "none" && !quirks.effortNone;
  const body: JsonObject = {
    model,
    stream: !whole,
    stream_options: whole ? undefined : { include_usage: true },
    messages: encodeMessages(request, quirks, caching),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? encodeToolChoice(request.tool_choice) : undefined,
    parallel_tool_calls: tools.length > 0 ? parallel_tool_calls : undefined,
    temperature,
    top_p,
    [quirks.maxTokensField ?? "max_tokens"]: max_output_tokens,
    reasoning_effort: isOff ? undefined : reasoning.effort,
    ...(isOff && quirks.thinkingOff),
    response_format: encodeFormat(request.format, quirks),
    ...(options && encodeOptions(options)),
    ...caching.fields,
  };
  return toBody(body, quirks);
}

/** The options, which have the same names in this API. `caching.ts` encodes the retention of the prompt. */
function encodeOptions({ prompt_cache_retention: _, ...told }: ModelOptions): JsonObject {
  return told.top_logprobs === undefined ? told : { ...told, logprobs: true };
}

function encodeTool(tool: Tool, { native }: Quirks): JsonObject[] {
  if (tool.type !== "function") {
    const own = native && toOwnTool(native, tool);
    return own ? [own] : [];
  }
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
  // With a list of allowed tools, the others are not offered. Every server understands that.
  return isForced(choice) ? "required" : "auto";
}

function encodeFormat(format: OutputFormat, quirks: Quirks): JsonObject | undefined {
  if (format.type === "text") return undefined;
  if (format.type === "json_object" || quirks.jsonSchema === false) return { type: "json_object" };
  const { name, description, schema, strict } = format;
  const described = description ? { description } : {};
  return { type: "json_schema", json_schema: { name, ...described, schema, strict } };
}

function encodeMessages(request: ModelRequest, quirks: Quirks, caching: Caching): JsonObject[] {
  const messages = new MessageList(quirks, caching);
  const instructions = toInstructions(request, quirks);
  if (instructions) messages.add({ role: "system", content: instructions });
  for (const item of request.items) messages.addItem(item);
  return toForms(messages.finish(), request.model, quirks);
}

function toForms(messages: JsonObject[], model: string, quirks: Quirks): JsonObject[] {
  const formed = isMistral(model) ? toMistralMessages(messages) : messages;
  return quirks.mistralParts ? formed.map(toMistralParts) : formed;
}

/**
 * The instructions. A vendor without a parameter for schemas gets the schema in them; the answer is checked
 * anyway. The API also refuses a request for a JSON object whose prompt does not contain "JSON".
 */
function toInstructions(
  { instructions, items, format }: ModelRequest,
  quirks: Quirks,
): string | undefined {
  const rules: string[] = [];
  if (format.type === "json_schema" && quirks.jsonSchema === false) {
    rules.push(toSchemaRule(format));
  }
  if (format.type === "json_object" && !mentionsJson(instructions, items)) rules.push(JSON_RULE);
  return instructions === undefined && rules.length === 0
    ? undefined
    : [instructions, ...rules].filter(Boolean).join("\n\n");
}

/** Collects messages. It holds back parts that chat expects at another position than the items have them. */
class MessageList {
  readonly #quirks: Quirks;
  readonly #caching: Caching;
  readonly #messages: JsonObject[] = [];
  /**
   * Parts of tool results other than text. A `tool` message cannot hold them, so a user message follows
   * after all results.
   */
  #media: JsonObject[] = [];
  #reasoning: string | undefined;
  /** Reasoning details of the server, to be sent back with the message and with the next call. */
  #details: readonly JsonObject[] = [];
  #extra: JsonObject | undefined;

  constructor(quirks: Quirks, caching: Caching) {
    this.#quirks = quirks;
    this.#caching = caching;
  }

  add(message: JsonObject): void {
    this.#flushMedia();
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
        return this.#addReasoning(item);
      default:
      // A chat cannot express calls of tools that other vendors run themselves.
    }
  }

  finish(): JsonObject[] {
    this.#flushMedia();
    return this.#messages;
  }

  #addMessage({ role, content }: Message): void {
    if (role === "assistant") {
      return this.add(this.#withReasoning({ role, content: toPlainText(content) }));
    }
    // This reasoning belongs to a turn that ended without an answer.
    this.#reasoning = undefined;
    this.#details = [];
    const encoded =
      typeof content === "string" ? content : encodeParts(content, this.#caching.markOf);
    this.add({
      // Only a few servers know the newer name of this role.
      role: role === "developer" ? "system" : role,
      content: encoded,
    });
  }

  /** Adds reasoning. Its text comes before the answer; its details may come after it. */
  #addReasoning(item: Reasoning): void {
    this.#reasoning = readOwnReasoning(item);
    const sealed = unsealChat(item);
    if (this.#quirks.extraContent) this.#extra = sealed?.extra;
    if (!this.#quirks.reasoningDetails || !sealed) return;
    this.#details = [...this.#details, ...sealed.details];
    const last = this.#messages.at(-1);
    // A message ends with its calls, except for the details to send back with it.
    if (last?.["tool_calls"]) this.#messages.splice(-1, 1, this.#withReasoning(last));
  }

  #addCall({ call_id, name, arguments: text }: FunctionCall): void {
    const call = toBody({
      id: call_id,
      type: "function",
      function: { name, arguments: text },
      extra_content: this.#extra,
    });
    this.#extra = undefined;
    const last = this.#messages.at(-1);
    if (last?.["role"] !== "assistant") {
      return this.add(
        this.#withReasoning({ role: "assistant", content: null, tool_calls: [call] }),
      );
    }
    const calls = (last["tool_calls"] as JsonObject[] | undefined) ?? [];
    const message = this.#withReasoning({ ...last, tool_calls: [...calls, call] });
    this.#messages.splice(-1, 1, message);
  }

  #addOutput({ call_id, output }: FunctionCallOutput): void {
    this.#messages.push({ role: "tool", tool_call_id: call_id, content: toPlainText(output) });
    if (typeof output !== "string") this.#media.push(...mediaOf(output));
  }

  #flushMedia(): void {
    if (this.#media.length === 0) return;
    this.#messages.push({ role: "user", content: this.#media });
    this.#media = [];
  }

  #withReasoning(message: JsonObject): JsonObject {
    const { reasoningField } = this.#quirks;
    const reasoning = this.#reasoning;
    const details = this.#details;
    this.#reasoning = undefined;
    this.#details = [];
    if (details.length > 0) {
      const known = (message["reasoning_details"] as JsonObject[] | undefined) ?? [];
      return { ...message, reasoning_details: [...known, ...details] };
    }
    return reasoningField && reasoning ? { ...message, [reasoningField]: reasoning } : message;
  }
}
