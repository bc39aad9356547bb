/**
 * Encodes a model request as an Ollama chat body.
 *
 * A message has one text, and beside it images, thinking and calls. The API has no tool choice: tools that
 * may not be called are not offered, and nothing can be forced.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { FunctionCall, FunctionCallOutput, Item, Message } from "../../protocol/items.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import { omittedMarks } from "../cache-marks.ts";
import { toFileText } from "../file-content.ts";
import { JSON_RULE, mentionsJson } from "../json-rule.ts";
import type { OptionName } from "../known-options.ts";
import { isForced, offeredTools } from "../offered-tools.ts";
import { readOwnReasoning } from "../own-reasoning.ts";
import type { ModelRequest, OutputFormat } from "../provider.ts";
import { type Quirks, toBody } from "../wire.ts";
import type {
  OllamaCall,
  OllamaMessage,
  OllamaOptions,
  OllamaParameters,
  OllamaRequest,
  OllamaTool,
} from "./schema.ts";

export const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "top_logprobs",
]);

/** The parameters that the body leaves out. */
export function omitsOf(request: ModelRequest): string[] {
  const { tools, tool_choice, parallel_tool_calls } = request;
  const marks = omittedMarks(request);
  if (tools.length === 0) return marks;
  return [
    ...(isForced(tool_choice) ? ["tool_choice"] : []),
    ...(parallel_tool_calls === false ? ["parallel_tool_calls"] : []),
    ...marks,
  ];
}

export function encodeRequest(request: ModelRequest, quirks: Quirks): JsonObject {
  return toBody(toRequest(request, quirks), quirks);
}

/** The body, with its absent fields as undefined. Without them it is what the API's own client sends. */
export function toRequest(request: ModelRequest, quirks: Quirks): OllamaRequest {
  const tools = offeredTools(request.tools, request.tool_choice).map(encodeTool);
  const top_logprobs = request.options?.top_logprobs;
  return {
    model: request.model,
    messages: encodeMessages(request),
    stream: true,
    tools: tools.length > 0 ? tools : undefined,
    format: encodeFormat(request.format),
    think: encodeEffort(request.reasoning.effort),
    keep_alive: quirks.keepAlive,
    options: encodeOptions(request, quirks),
    logprobs: top_logprobs === undefined ? undefined : true,
    top_logprobs,
    truncate: false,
    shift: false,
  };
}

/**
 * A model that cannot think refuses an effort, and an old server knows no levels: both are asked again
 * without one, and use their default.
 */
export function relaxThinking(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  const { effort } = request.reasoning;
  if (failure.code !== "provider_rejected" || effort === undefined) return undefined;
  if (!/support thinking|think value|ChatRequest\.think/.test(failure.message)) return undefined;
  return { ...request, reasoning: { ...request.reasoning, effort: undefined } };
}

function encodeTool({ name, description, parameters }: FunctionTool): OllamaTool {
  // The API names a few keywords of the schema; the others reach the model's template as well.
  const schema = (parameters ?? { type: "object", properties: {} }) as OllamaParameters;
  return {
    type: "function",
    function: { name, ...(description ? { description } : {}), parameters: schema },
  };
}

function encodeFormat(format: OutputFormat): OllamaRequest["format"] {
  if (format.type === "text") return undefined;
  return format.type === "json_object" ? "json" : format.schema;
}

function encodeEffort(effort: ModelRequest["reasoning"]["effort"]): OllamaRequest["think"] {
  switch (effort) {
    case undefined:
      return undefined;
    case "none":
      return false;
    case "minimal":
    case "low":
      return "low";
    case "medium":
      return "medium";
    default:
      return "high";
  }
}

function encodeOptions(
  { max_output_tokens, temperature, top_p, options }: ModelRequest,
  { numCtx }: Quirks,
): OllamaOptions | undefined {
  const set = toBody({
    num_predict: max_output_tokens,
    num_ctx: numCtx,
    temperature,
    top_p,
    stop: options?.stop,
    frequency_penalty: options?.frequency_penalty,
    presence_penalty: options?.presence_penalty,
  });
  return Object.keys(set).length > 0 ? (set as OllamaOptions) : undefined;
}

function encodeMessages(request: ModelRequest): OllamaMessage[] {
  const messages = new MessageList();
  const instructions = toInstructions(request);
  if (instructions) messages.add({ role: "system", content: instructions });
  for (const item of request.items) messages.addItem(item);
  const encoded = messages.finish();
  if (encoded.length > 0) return encoded;
  // With an empty conversation the server only loads the model and returns no answer.
  throw refuse("There is nothing to send: the conversation is empty.");
}

/**
 * The instructions. In JSON mode, a model whose prompt does not describe the format may write white space
 * forever.
 */
function toInstructions({ instructions, items, format }: ModelRequest): string | undefined {
  if (format.type === "text" || mentionsJson(instructions, items)) return instructions;
  return instructions ? `${instructions}\n\n${JSON_RULE}` : JSON_RULE;
}

/** Joins the assistant's reasoning, text and calls of one turn into one message. */
class MessageList {
  readonly #messages: OllamaMessage[] = [];
  /** Names of tools by call: a result names its tool, but the item may not. */
  readonly #toolNames = new Map<string, string>();
  #thinking: string | undefined;

  add(message: OllamaMessage): void {
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
        this.#thinking = readOwnReasoning(item);
        return;
      default:
      // This API cannot express tools that other vendors run themselves.
    }
  }

  finish(): OllamaMessage[] {
    return this.#messages;
  }

  #addMessage({ role, content }: Message): void {
    const text = toText(content);
    if (role === "assistant") return this.#addAnswer(text);
    // This reasoning belongs to a turn that ended without an answer.
    this.#thinking = undefined;
    const images = toImages(content);
    if (text === "" && images.length === 0) return;
    const said = { role: role === "user" ? role : ("system" as const), content: text };
    this.add(images.length > 0 ? { ...said, images } : said);
  }

  #addAnswer(content: string): void {
    if (content !== "") this.add(this.#withThinking({ role: "assistant", content }));
  }

  #addCall({ call_id, name, arguments: text }: FunctionCall): void {
    this.#toolNames.set(call_id, name);
    const call: OllamaCall = { id: call_id, function: { name, arguments: parseArguments(text) } };
    const last = this.#messages.at(-1);
    if (last?.role === "assistant" && this.#thinking === undefined) {
      const calls = [...(last.tool_calls ?? []), call];
      this.#messages[this.#messages.length - 1] = { ...last, tool_calls: calls };
    } else {
      this.add(this.#withThinking({ role: "assistant", content: "", tool_calls: [call] }));
    }
  }

  #addOutput({ call_id, output, name }: FunctionCallOutput): void {
    const images = toImages(output);
    const toolName = this.#toolNames.get(call_id) ?? name;
    this.add({
      role: "tool",
      content: toText(output),
      tool_call_id: call_id,
      ...(toolName ? { tool_name: toolName } : {}),
      ...(images.length > 0 ? { images } : {}),
    });
  }

  #withThinking(message: OllamaMessage): OllamaMessage {
    const thinking = this.#thinking;
    this.#thinking = undefined;
    return thinking === undefined ? message : { ...message, thinking };
  }
}

/** The arguments as an object, which the API requires. Other text is wrapped in one. */
function parseArguments(text: string): JsonObject {
  const value = tryParseJson(text === "" ? "{}" : text);
  return isJsonObject(value) ? value : { invalid_arguments: text };
}

function toText(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((part) => {
    switch (part.type) {
      case "input_text":
      case "output_text":
      case "text":
        return part.text;
      case "refusal":
        return part.refusal;
      case "input_image":
        return "";
      default: {
        const text = part.type === "input_file" ? toFileText(part) : undefined;
        if (text !== undefined) return text;
        throw refuse(
          `Ollama does not accept \`${part.type}\` parts. Send text, text files and images.`,
        );
      }
    }
  });
  return texts.filter((text) => text !== "").join("\n");
}

function toImages(content: string | readonly ContentPart[]): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "input_image" ? [toBase64(part)] : []));
}

function toBase64({ image_url }: Extract<ContentPart, { type: "input_image" }>): string {
  const data = /^data:[^,]*;base64,(.*)$/s.exec(image_url ?? "")?.[1];
  if (data !== undefined) return data;
  const given = image_url ? `\`${clip(image_url, 60)}\`` : "a file id";
  throw refuse(`Ollama takes images as base64 data, not by ${given}.`);
}

function refuse(message: string): Failure {
  return new Failure("invalid_request", message, { param: "input" });
}
