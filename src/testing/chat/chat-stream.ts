/**
 * Model events as chunks of a chat completion, and as the one object of a plain answer.
 *
 * Compatible servers differ in how they write the fragments of a tool call; `ChatDialect` names the differences that
 * break clients.
 */

import { toFailure } from "../../base/failure.ts";
import { asJson, asJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Annotation, Logprob } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import type {
  EndReason,
  ItemStart,
  ModelEvent,
  ReasoningDelta,
  RefusalTextDelta,
  TextDelta,
} from "../../protocol/model-events.ts";
import { NO_USAGE, type Usage } from "../../protocol/usage.ts";

export interface ChatDialect {
  /** False: fragments carry no `index`; each carries the call's id instead. */
  readonly includeIndex: boolean;
  /** True: every fragment repeats the call's id and name. */
  readonly repeatIdAndName: boolean;
  readonly reasoningField: "reasoning_content" | "reasoning";
}

export interface ChatWriting {
  readonly dialect: ChatDialect;
  /** The cost in US dollars in the usage, if the server reports one. */
  readonly cost?: number | undefined;
}

export interface ChatAnswer {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

type Batches = AsyncIterable<readonly ModelEvent[]>;

/** Yields whole frames. Ends after an `error` frame, without `[DONE]`, when the engine fails. */
export async function* encodeChatStream(
  batches: Batches,
  answer: ChatAnswer,
  options: ChatWriting & { readonly includeUsage: boolean },
): AsyncGenerator<string, void> {
  const { dialect, includeUsage, cost } = options;
  const frame = (choices: readonly object[], usage: JsonObject | null): string =>
    `data: ${JSON.stringify({
      id: answer.id,
      object: "chat.completion.chunk",
      created: answer.created,
      model: answer.model,
      service_tier: "default",
      system_fingerprint: null,
      choices,
      ...(includeUsage ? { usage } : {}),
    })}\n\n`;
  const chunk = (
    delta: JsonObject,
    reason: string | null = null,
    logprobs: object | null = null,
  ): string => frame([{ index: 0, delta, logprobs, finish_reason: reason }], null);
  const toDelta = createDeltaEncoder(dialect);

  yield chunk({ role: "assistant", content: "", refusal: null });
  try {
    for await (const batch of batches) {
      for (const event of batch) {
        const delta = toDelta(event);
        if (delta) yield chunk(delta, null, toLogprobs(event));
        if (event.type !== "end") continue;
        yield chunk({}, toFinishReason(event.reason));
        if (includeUsage) yield frame([], toChatUsage(event.usage, cost));
      }
    }
  } catch (thrown) {
    const error = {
      message: toFailure(thrown).message,
      type: "server_error",
      param: null,
      code: null,
    };
    return yield `data: ${JSON.stringify({ error })}\n\n`;
  }
  yield "data: [DONE]\n\n";
}

/** The whole answer. Rejects with the engine's failure. */
export async function collectChat(
  batches: Batches,
  answer: ChatAnswer,
  { dialect, cost }: ChatWriting,
): Promise<JsonObject> {
  const said = { text_delta: "", reasoning_delta: "", refusal_delta: "" };
  let end: { reason: EndReason; usage: Usage } = { reason: "stop", usage: NO_USAGE };
  const calls: JsonObject[] = [];
  const executed: JsonObject[] = [];
  const annotations: JsonObject[] = [];
  const likely: Logprob[] = [];
  const read = (event: ModelEvent): void => {
    if (event.type === "text_delta") likely.push(...(event.logprobs ?? []));
    if (event.type === "end") end = event;
    else if (event.type === "annotation") annotations.push(toChatCitation(event.annotation));
    else if (event.type === "item_end") {
      calls.push(...toCalls(event.item));
      if (event.item.type === "web_search_call") executed.push(toExecuted(event.item));
    } else if (event.type in said) {
      const { type, delta } = event as TextDelta | ReasoningDelta | RefusalTextDelta;
      said[type] += delta;
    }
  };
  for await (const batch of batches) for (const event of batch) read(event);
  const message: JsonObject = {
    role: "assistant",
    content: said.text_delta || null,
    refusal: said.refusal_delta || null,
    annotations,
    ...(said.reasoning_delta && { [dialect.reasoningField]: said.reasoning_delta }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(executed.length > 0 && { executed_tools: executed }),
  };
  const logprobs: JsonObject | null =
    likely.length > 0 ? { content: asJson(likely), refusal: null } : null;
  return {
    id: answer.id,
    object: "chat.completion",
    created: answer.created,
    model: answer.model,
    choices: [{ index: 0, message, logprobs, finish_reason: toFinishReason(end.reason) }],
    usage: toChatUsage(end.usage, cost),
    service_tier: "default",
    system_fingerprint: null,
  };
}

function toLogprobs(event: ModelEvent): object | null {
  const isTold = event.type === "text_delta" && event.logprobs;
  return isTold ? { content: event.logprobs, refusal: null } : null;
}

function toCalls(item: Item): JsonObject[] {
  if (item.type !== "function_call") return [];
  const { call_id: id, name, arguments: args } = item;
  return [{ id, type: "function", function: { name, arguments: args } }];
}

interface OpenCall {
  /** The index among the calls; other items do not count. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

function createDeltaEncoder(dialect: ChatDialect): (event: ModelEvent) => JsonObject | undefined {
  const calls = new Map<number, OpenCall>();

  function openCall({ index, item }: ItemStart): JsonObject | undefined {
    if (item.type !== "function_call") return undefined;
    const call = { index: calls.size, id: item.call_id, name: item.name };
    calls.set(index, call);
    const place = dialect.includeIndex ? { index: call.index } : {};
    const first = { id: call.id, type: "function", function: { name: call.name, arguments: "" } };
    return { tool_calls: [{ ...place, ...first }] };
  }

  function callDelta(index: number, delta: string): JsonObject | undefined {
    const call = calls.get(index);
    if (!call) return undefined;
    const { includeIndex, repeatIdAndName } = dialect;
    const fragment = {
      ...(includeIndex ? { index: call.index } : {}),
      ...(repeatIdAndName || !includeIndex ? { id: call.id } : {}),
      ...(repeatIdAndName ? { type: "function" } : {}),
      function: { ...(repeatIdAndName ? { name: call.name } : {}), arguments: delta },
    };
    return { tool_calls: [fragment] };
  }

  return (event) => {
    switch (event.type) {
      case "text_delta":
        return { content: event.delta };
      case "refusal_delta":
        return { refusal: event.delta };
      case "reasoning_delta":
        return { [dialect.reasoningField]: event.delta };
      case "item_start":
        return openCall(event);
      case "arguments_delta":
        return callDelta(event.index, event.delta);
      case "annotation":
        return { annotations: [toChatCitation(event.annotation)] };
      case "item_end":
        return event.item.type === "web_search_call"
          ? { executed_tools: [toExecuted(event.item)] }
          : undefined;
      default:
        return undefined;
    }
  };
}

function toChatCitation(annotation: Annotation): JsonObject {
  const { type, ...cited } = asJsonObject(annotation);
  return { type: "url_citation", url_citation: cited };
}

/** A tool that the server ran itself, in Groq's form. */
function toExecuted(item: Item): JsonObject {
  const { action, results } = item as unknown as { action: JsonObject; results?: Json };
  return {
    index: 0,
    type: "browser_search",
    output: "Found.",
    arguments: JSON.stringify({ query: action["query"] }),
    search_results: { results: results ?? [] },
  };
}

function toFinishReason(reason: EndReason): string {
  return reason === "length" || reason === "tool_calls" ? reason : "stop";
}

function toChatUsage(usage: Usage, cost: number | undefined): JsonObject {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.input_tokens_details.cached_tokens },
    completion_tokens_details: { reasoning_tokens: usage.output_tokens_details.reasoning_tokens },
    ...(cost === undefined ? {} : { cost }),
  };
}
