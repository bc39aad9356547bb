/**
 * Parses a chat completions request into a Responses request, which is never stored as such: chat clients send the
 * whole conversation each time. `store: true` stores the completion (`stored-chats.ts`).
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { CreateResponse, type TextConfig } from "../../protocol/request.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { toChatItems } from "./chat-items.ts";
import {
  type ChatRequest,
  OWN_PARAMETERS,
  parseChatRequest,
  type ResponseFormat,
  SHARED_PARAMETERS,
} from "./chat-request.ts";
import {
  toFunctionChoice,
  toFunctionTool,
  toTool,
  toToolChoice,
  toWebSearchTool,
} from "./chat-tools.ts";
import type { CallSpelling } from "./completion-message.ts";

export interface ParsedChat {
  readonly request: CreateResponse;
  /** Given parameters without an effect, by name: `seed`. */
  readonly ignored: string[];
  /** The form of the client's answer, for `createChatWriter` and `toChatCompletion`. */
  readonly answer: ChatAnswerOptions;
  /** The number of choices. */
  readonly count: number;
  /** The messages as they were sent, if they are stored with their answer. */
  readonly kept: readonly Json[] | undefined;
}

export interface ChatAnswerOptions {
  /** True if a stream ends with a chunk that has the usage. */
  readonly includeUsage: boolean;
  readonly calls: CallSpelling;
}

/**
 * Rejects with `Failure("invalid_request")` and the field at fault, as `parseCreateResponse` does.
 */
export function toCreateResponse(body: unknown): ParsedChat {
  const chat = parseChatRequest(body);
  checkRules(chat);
  const { items, ignored } = toChatItems(chat.messages);
  const { passed, refused } = sortParameters(chat);
  const request: CreateResponse = {
    ...passed,
    input: items,
    store: false,
    ...toOutputWishes(chat),
    ...toReasoning(chat),
    ...toTooling(chat),
  };
  return {
    request,
    ignored: [...refused, ...ignored],
    count: chat.n ?? 1,
    kept: chat.store === true ? (chat.messages as unknown as readonly Json[]) : undefined,
    answer: {
      includeUsage: chat.stream_options?.include_usage === true,
      calls: usesFunctions(chat) ? "function_call" : "tool_calls",
    },
  };
}

function checkRules({ logprobs, top_logprobs }: ChatRequest): void {
  if (top_logprobs && !logprobs) {
    const message = "`top_logprobs` needs `logprobs` to be true.";
    throw new Failure("invalid_request", message, { param: "top_logprobs" });
  }
}

/**
 * Values that ask for something that is left out. A value that asks for nothing is not reported.
 */
const LEFT_OUT: Readonly<Record<string, (chat: ChatRequest) => boolean>> = {
  modalities: ({ modalities }) => (modalities ?? []).some((modality) => modality !== "text"),
  audio: () => true,
};

/**
 * Chat's own parameters that vendors of chat accept: passed on like what clients of other servers send.
 */
const PASSED_ON: ReadonlySet<string> = new Set(["seed", "logit_bias", "prediction"]);

/** An empty map asks for nothing. */
function isEmpty(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

interface Sorted {
  readonly passed: CreateResponse;
  readonly refused: string[];
}

/**
 * Unknown parameters pass, except those of the Responses API: a chat answer is not stored as a response, continues
 * nothing and does not run in the background.
 */
function sortParameters(chat: ChatRequest): Sorted {
  const passed: [string, Json][] = [];
  const refused: string[] = [];
  for (const [name, value] of Object.entries(chat) as [string, Json | undefined][]) {
    if (value === null || value === undefined) continue;
    if (PASSED_ON.has(name) && isEmpty(value)) continue;
    if (isPassed(name)) passed.push([name, value]);
    else if (!OWN_PARAMETERS.has(name) || asksForMore(name, chat)) refused.push(name);
  }
  return { passed: Object.fromEntries(passed), refused };
}

function isPassed(name: string): boolean {
  if (SHARED_PARAMETERS.has(name) || PASSED_ON.has(name)) return true;
  return !OWN_PARAMETERS.has(name) && !Object.hasOwn(CreateResponse.shape, name);
}

function asksForMore(name: string, chat: ChatRequest): boolean {
  return Object.hasOwn(LEFT_OUT, name) && LEFT_OUT[name]?.(chat) === true;
}

function toOutputWishes(chat: ChatRequest): Partial<CreateResponse> {
  const { response_format, verbosity, logprobs, stream_options } = chat;
  const limit = chat.max_completion_tokens ?? chat.max_tokens;
  const format = response_format ? { format: toTextFormat(response_format) } : {};
  const text: TextConfig = { ...format, ...(verbosity ? { verbosity } : {}) };
  const obfuscation = stream_options?.include_obfuscation;
  return {
    ...(limit ? { max_output_tokens: limit } : {}),
    ...(Object.keys(text).length > 0 ? { text } : {}),
    ...(logprobs ? { include: ["message.output_text.logprobs"] } : {}),
    ...(typeof obfuscation === "boolean"
      ? { stream_options: { include_obfuscation: obfuscation } }
      : {}),
  };
}

function toTextFormat(format: ResponseFormat): NonNullable<TextConfig["format"]> {
  if (format.type !== "json_schema") return format;
  const { schema, ...described } = format.json_schema;
  // A format without a schema asks for any JSON, which is what an empty schema means.
  return { type: "json_schema", ...described, schema: schema ?? {} };
}

function toReasoning({ reasoning, reasoning_effort }: ChatRequest): Partial<CreateResponse> {
  return reasoning_effort ? { reasoning: { ...reasoning, effort: reasoning_effort } } : {};
}

function toTooling(chat: ChatRequest): Partial<CreateResponse> {
  const tools: Tool[] = [
    ...(chat.tools ?? []).map(toTool),
    ...(chat.functions ?? []).map(toFunctionTool),
    ...(chat.web_search_options ? [toWebSearchTool(chat.web_search_options)] : []),
  ];
  const choice = toChoice(chat);
  return {
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice ? { tool_choice: choice } : {}),
    // The older form has room for one call.
    ...(usesFunctions(chat) ? { parallel_tool_calls: false } : {}),
  };
}

function toChoice({ tool_choice, function_call }: ChatRequest): ToolChoice | undefined {
  if (tool_choice) return toToolChoice(tool_choice);
  return function_call ? toFunctionChoice(function_call) : undefined;
}

/** A client that offers tools only in the older form reads calls only in the older form. */
function usesFunctions({ functions, tools }: ChatRequest): boolean {
  return (functions ?? []).length > 0 && (tools ?? []).length === 0;
}
