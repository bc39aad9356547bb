/** The message of a chat completion, made from the items of an answer: text, citations, reasoning, tool calls. */

import type {
  EmittedAnnotation,
  EmittedCustomToolCall,
  EmittedFunctionCall,
  EmittedItem,
  EmittedReasoning,
  EmittedText,
} from "../../protocol/emitted.ts";

/** `function_call` is the older form, for a single call without an id. */
export type CallSpelling = "tool_calls" | "function_call";

export interface ChatCitation {
  type: "url_citation";
  url_citation: { url: string; title: string; start_index: number; end_index: number };
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

/** Separates two pieces of thinking, which are separate texts in a response. */
export const THOUGHT_BREAK = "\n\n";

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

export function toMessage(
  output: readonly EmittedItem[],
  spelling: CallSpelling,
): ChatAnswerMessage {
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

export function textsOf(output: readonly EmittedItem[]): EmittedText[] {
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
export function callsOf(output: readonly EmittedItem[]): ClientCall[] {
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
