/**
 * Turns a finished response into a `chat.completion`, with the parts that a stream's chunks share. Chat has one
 * message: its text is that of all messages, and calls of tools that the server ran are left out.
 */

import { Failure } from "../../base/failure.ts";
import type {
  EmittedAnnotation,
  EmittedCustomToolCall,
  EmittedFunctionCall,
  EmittedItem,
  EmittedLogprob,
  EmittedReasoning,
  EmittedResponse,
  EmittedText,
} from "../../protocol/emitted.ts";
import type { Metadata, ServiceTier } from "../../protocol/request.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { OwnField } from "../fold/ignored.ts";

/** `function_call` is the older form, for a single call without an id. */
export type CallSpelling = "tool_calls" | "function_call";

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: {
    cached_tokens: number;
    cache_write_tokens: number;
    audio_tokens: number;
  };
  completion_tokens_details: {
    reasoning_tokens: number;
    audio_tokens: number;
    accepted_prediction_tokens: number;
    rejected_prediction_tokens: number;
  };
}

export interface ChatCitation {
  type: "url_citation";
  url_citation: { url: string; title: string; start_index: number; end_index: number };
}

export interface ChatLogprobs {
  content: EmittedLogprob[];
  refusal: null;
}

export type CompletionToolCall =
  | { id: string; type: "function"; function: { name: string; arguments: string } }
  | { id: string; type: "custom"; custom: { name: string; input: string } };

export interface ChatAnswerMessage {
  role: "assistant";
  content: string | null;
  refusal: string | null;
  annotations: ChatCitation[];
  /** Not in the published API. Servers use two names for it, and clients read one of them. */
  reasoning_content?: string;
  reasoning?: string;
  tool_calls?: CompletionToolCall[];
  function_call?: { name: string; arguments: string };
}

/** The common beginning of a completion and of each chunk. */
export interface ChatHead {
  id: string;
  /** In seconds. */
  created: number;
  model: string;
  service_tier: ServiceTier;
  system_fingerprint: null;
}

/** One of several choices of a stream, which has one head and one usage. */
export interface CompletionChoice {
  readonly index: number;
  /** The head of the stream: the first choice to know one sets it. */
  readonly toHead: (own: ChatHead) => ChatHead;
  /** Called with the usage of the choice; the sum is written when all have ended. */
  readonly onUsage: (usage: Usage) => void;
}

export interface ChatCompletion extends ChatHead {
  object: "chat.completion";
  choices: {
    index: number;
    message: ChatAnswerMessage;
    logprobs: ChatLogprobs | null;
    finish_reason: FinishReason;
  }[];
  usage?: CompletionUsage;
  metadata: Metadata;
  /**
   * A field of this server: which fields of the request were left out, and the exact reason of the end.
   */
  offshoot?: OwnField;
}

export interface CompletionOptions {
  /** The model name in the answer; the response's own if none is given. */
  readonly model?: string | undefined;
  readonly calls?: CallSpelling | undefined;
}

/** Separates two pieces of thinking, which are separate texts in a response. */
export const THOUGHT_BREAK = "\n\n";

/** Rejects if the response has no answer: it failed, was cancelled or still runs. */
export function toChatCompletion(
  response: EmittedResponse,
  options: CompletionOptions = {},
): ChatCompletion {
  checkAnswered(response);
  const { calls = "tool_calls", model = response.model } = options;
  const { usage, metadata, output, offshoot } = response;
  const logprobs = textsOf(output).flatMap((part) => part.logprobs);
  return {
    ...toHead(response, model),
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: toMessage(output, calls),
        logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
        finish_reason: toFinishReason(response, calls),
      },
    ],
    ...(usage ? { usage: toChatUsage(usage) } : {}),
    metadata,
    ...(offshoot ? { offshoot } : {}),
  };
}

function checkAnswered({ status, error }: EmittedResponse): void {
  switch (status) {
    case "completed":
    case "incomplete":
      return;
    case "cancelled":
      throw new Failure("cancelled", CANCELLED);
    case "failed": {
      const code =
        error?.code === "rate_limit_exceeded" ? "provider_overloaded" : "provider_failed";
      throw new Failure(code, error?.message ?? "The response failed.", {
        vendorCode: error?.code,
      });
    }
    case "queued":
    case "in_progress":
      throw new Failure("internal", "The response has not ended.");
  }
}

export const CANCELLED = "The response was cancelled before it was complete.";

export function toHead(response: EmittedResponse, model: string): ChatHead {
  return {
    id: `chatcmpl-${response.id.replace(/^resp_/, "")}`,
    created: response.created_at,
    model,
    service_tier: response.service_tier,
    system_fingerprint: null,
  };
}

/** The reason why an ended response ended. */
export function toFinishReason(response: EmittedResponse, calls: CallSpelling): FinishReason {
  const { incomplete_details, output } = response;
  if (incomplete_details) {
    return incomplete_details.reason === "content_filter" ? "content_filter" : "length";
  }
  return callsOf(output).length > 0 ? calls : "stop";
}

export function toChatUsage(usage: Usage): CompletionUsage {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { ...usage.input_tokens_details, audio_tokens: 0 },
    completion_tokens_details: {
      ...usage.output_tokens_details,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/**
 * `offset` is where the annotated part begins in the message's text. Chat knows only citations of pages.
 */
export function toCitations(
  annotations: readonly EmittedAnnotation[],
  offset: number,
): ChatCitation[] {
  return annotations.flatMap((annotation): ChatCitation[] => {
    if (annotation.type !== "url_citation") return [];
    const { url, title, start_index, end_index } = annotation;
    const place = { start_index: start_index + offset, end_index: end_index + offset };
    return [{ type: "url_citation", url_citation: { url, title, ...place } }];
  });
}

function toMessage(output: readonly EmittedItem[], spelling: CallSpelling): ChatAnswerMessage {
  const text = textsOf(output)
    .map((part) => part.text)
    .join("");
  const refusal = refusalOf(output);
  const calls = callsOf(output);
  const thought = output.flatMap(thoughtsOf).join(THOUGHT_BREAK);
  const isSilent = text === "" && (calls.length > 0 || refusal !== "");
  return {
    role: "assistant",
    content: isSilent ? null : text,
    refusal: refusal === "" ? null : refusal,
    annotations: toAllCitations(textsOf(output)),
    ...(thought === "" ? {} : toThought(thought)),
    ...spellCalls(calls, spelling),
  };
}

/** Under both of its names. */
export function toThought(text: string): { reasoning_content: string; reasoning: string } {
  return { reasoning_content: text, reasoning: text };
}

function toAllCitations(parts: readonly EmittedText[]): ChatCitation[] {
  let offset = 0;
  return parts.flatMap(({ text, annotations }) => {
    const citations = toCitations(annotations, offset);
    offset += text.length;
    return citations;
  });
}

function textsOf(output: readonly EmittedItem[]): EmittedText[] {
  return output.flatMap((item) => {
    if (item.type !== "message") return [];
    return item.content.filter((part) => part.type === "output_text");
  });
}

function refusalOf(output: readonly EmittedItem[]): string {
  const refusals = output.flatMap((item) => {
    if (item.type !== "message") return [];
    return item.content.map((part) => (part.type === "refusal" ? part.refusal : ""));
  });
  return refusals.join("");
}

function thoughtsOf(item: EmittedItem): string[] {
  if (item.type !== "reasoning") return [];
  const { summary, content = [] }: EmittedReasoning = item;
  return [...summary, ...content].map(({ text }) => text).filter((text) => text !== "");
}

type ClientCall = EmittedFunctionCall | EmittedCustomToolCall;

/** The calls that wait for the client: those without a result in the response. */
function callsOf(output: readonly EmittedItem[]): ClientCall[] {
  const answered = new Set(
    output.map((item) => (item.type === "function_call_output" ? item.call_id : undefined)),
  );
  return output.filter((item): item is ClientCall => isCall(item) && !answered.has(item.call_id));
}

export function isCall(item: EmittedItem): item is ClientCall {
  return item.type === "function_call" || item.type === "custom_tool_call";
}

function spellCalls(
  calls: readonly ClientCall[],
  spelling: CallSpelling,
): Pick<ChatAnswerMessage, "tool_calls" | "function_call"> {
  const [first] = calls;
  if (!first) return {};
  if (spelling === "tool_calls") return { tool_calls: calls.map(toToolCall) };
  return { function_call: { name: first.name, arguments: textOf(first) } };
}

function toToolCall(call: ClientCall): CompletionToolCall {
  const { call_id: id, name } = call;
  if (call.type === "custom_tool_call") {
    return { id, type: "custom", custom: { name, input: textOf(call) } };
  }
  return { id, type: "function", function: { name, arguments: textOf(call) } };
}

/**
 * The text of a call. Clients parse a function's arguments as they come, and some models write nothing for no
 * arguments. A call that was interrupted stays empty.
 */
export function textOf(call: ClientCall): string {
  if (call.type === "custom_tool_call") return call.input;
  return call.arguments === "" && call.status !== "incomplete" ? "{}" : call.arguments;
}
