/**
 * Model events as events of the Messages API in the order of the real one, and as the one object of a plain answer,
 * which is made from the same events.
 */

import { toFailure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { encodeSse } from "../../base/sse.ts";
import type { Item } from "../../protocol/items.ts";
import type {
  AnnotationAdded,
  EndReason,
  ItemEnd,
  ItemStart,
  ModelEnd,
  ModelEvent,
} from "../../protocol/model-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import { signThinking, type ThoughtMemory } from "./thinking-seal.ts";

type Batches = AsyncIterable<readonly ModelEvent[]>;

export interface MessagesAnswer {
  readonly id: string;
  readonly model: string;
  readonly memory: ThoughtMemory;
}

/** Yields whole frames. Ends after an `error` frame when the engine fails. */
export async function* encodeMessagesStream(
  batches: Batches,
  answer: MessagesAnswer,
): AsyncGenerator<string, void> {
  try {
    for await (const event of toEvents(batches, answer))
      yield encodeSse(String(event["type"]), event);
  } catch (thrown) {
    const error = { type: "api_error", message: toFailure(thrown).message };
    yield encodeSse("error", { type: "error", error });
  }
}

/** The whole answer. Rejects with the engine's failure. */
export async function collectMessages(
  batches: Batches,
  answer: MessagesAnswer,
): Promise<JsonObject> {
  let message: JsonObject = {};
  const blocks: JsonObject[] = [];
  const fragments: string[] = [];
  for await (const event of toEvents(batches, answer)) {
    const delta = isJsonObject(event["delta"]) ? event["delta"] : {};
    const index = Number(event["index"]);
    if (event["type"] === "message_start") message = event["message"] as JsonObject;
    if (event["type"] === "content_block_start") blocks.push(event["content_block"] as JsonObject);
    if (event["type"] === "content_block_delta") {
      fragments[index] = (fragments[index] ?? "") + (delta["partial_json"] ?? "");
      blocks[index] = grow(blocks[index] ?? {}, delta);
    }
    if (event["type"] === "message_delta")
      message = { ...message, ...delta, usage: event["usage"] };
  }
  const content = blocks.map((block, index) =>
    block["type"] === "tool_use"
      ? { ...block, input: tryParseJson(fragments[index] || "{}") ?? {} }
      : block,
  );
  return { ...message, content };
}

function grow(block: JsonObject, delta: JsonObject): JsonObject {
  const texts = ["text", "thinking", "signature"].flatMap((name) =>
    delta[name] === undefined ? [] : [[name, `${block[name] ?? ""}${delta[name]}`]],
  );
  return { ...block, ...Object.fromEntries(texts) };
}

async function* toEvents(
  batches: Batches,
  answer: MessagesAnswer,
): AsyncGenerator<JsonObject, void> {
  const encoder = new EventEncoder(answer);
  yield encoder.start();
  for await (const batch of batches) for (const event of batch) yield* encoder.encode(event);
}

interface OpenBlock {
  readonly index: number;
  readonly kind: "text" | "thinking" | "tool_use";
  text: string;
}

class EventEncoder {
  readonly #answer: MessagesAnswer;
  /** By the item's index; refusals have no block. */
  readonly #blocks = new Map<number, OpenBlock>();
  #count = 0;
  readonly #signatures: string[] = [];
  readonly #calls: string[] = [];
  #refusal = "";

  constructor(answer: MessagesAnswer) {
    this.#answer = answer;
  }

  start(): JsonObject {
    const { id, model } = this.#answer;
    const message = { id, type: "message", role: "assistant", model, content: [] };
    const open = { stop_reason: null, stop_sequence: null };
    // The counts are known at the end here; the real API knows its input at once.
    const usage = { input_tokens: 0, output_tokens: 1 };
    return { type: "message_start", message: { ...message, ...open, usage } };
  }

  *encode(event: ModelEvent): Generator<JsonObject, void> {
    switch (event.type) {
      case "item_start":
        return yield* this.#openCall(event);
      case "text_delta":
        return yield* this.#write(event, "text", { type: "text_delta", text: event.delta });
      case "reasoning_delta": {
        const delta = { type: "thinking_delta", thinking: event.delta };
        return yield* this.#write(event, "thinking", delta);
      }
      case "arguments_delta": {
        const delta = { type: "input_json_delta", partial_json: event.delta };
        return yield* this.#write(event, "tool_use", delta);
      }
      case "refusal_delta":
        this.#refusal += event.delta;
        return;
      case "annotation":
        if (this.#blocks.has(event.index)) yield this.#delta(event.index, toCitation(event));
        return;
      case "item_end":
        if (event.item.type === "web_search_call") yield* this.#search(event);
        return yield* this.#close(event);
      case "end":
        return yield* this.#end(event);
      default:
    }
  }

  *#openCall({ index, item }: ItemStart): Generator<JsonObject, void> {
    if (item.type !== "function_call") return;
    const { call_id: id, name } = item;
    this.#calls.push(id);
    const block = { type: "tool_use", id, name, input: {} };
    yield* this.#open(index, "tool_use", block);
    yield this.#delta(index, { type: "input_json_delta", partial_json: "" });
  }

  /** A tool of the vendor's own: the call in fragments, its result whole. */
  *#search({ item }: ItemEnd): Generator<JsonObject, void> {
    if (item.type !== "web_search_call") return;
    const id = `srvtoolu_${item.id}`;
    const call = { type: "server_tool_use", id, name: "web_search", input: {} };
    const input = JSON.stringify({ query: item.action?.query ?? "" });
    yield* this.#openWhole(call, { type: "input_json_delta", partial_json: input });
    yield* this.#openWhole(toSearchResult(id, item));
  }

  *#openWhole(content_block: JsonObject, delta?: JsonObject): Generator<JsonObject, void> {
    const index = this.#count++;
    yield { type: "content_block_start", index, content_block };
    if (delta) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }

  /** Text and thinking open with their first piece. */
  *#write(
    { index, delta: text }: { index: number; delta: string },
    kind: OpenBlock["kind"],
    delta: JsonObject,
  ): Generator<JsonObject, void> {
    if (!this.#blocks.has(index)) yield* this.#open(index, kind, EMPTY[kind]);
    const block = this.#blocks.get(index);
    if (block) block.text += text;
    yield this.#delta(index, delta);
  }

  *#open(at: number, kind: OpenBlock["kind"], block: JsonObject): Generator<JsonObject, void> {
    const index = this.#count++;
    this.#blocks.set(at, { index, kind, text: "" });
    yield { type: "content_block_start", index, content_block: block };
    if (index === 0) yield { type: "ping" };
  }

  #delta(at: number, delta: JsonObject): JsonObject {
    return { type: "content_block_delta", index: this.#blocks.get(at)?.index ?? 0, delta };
  }

  *#close({ index: at, item }: ItemEnd): Generator<JsonObject, void> {
    if (!this.#blocks.has(at)) yield* this.#openUnsaid(at, item);
    const block = this.#blocks.get(at);
    if (!block) return;
    if (block.kind === "thinking") {
      const signature = signThinking(block.text);
      this.#signatures.push(signature);
      yield this.#delta(at, { type: "signature_delta", signature });
    }
    yield { type: "content_block_stop", index: block.index };
  }

  /** A thought without words is still signed. */
  *#openUnsaid(at: number, item: Item): Generator<JsonObject, void> {
    if (item.type === "reasoning") yield* this.#open(at, "thinking", EMPTY.thinking);
  }

  *#end({ reason, usage }: ModelEnd): Generator<JsonObject, void> {
    for (const id of this.#calls) this.#answer.memory.keep(id, this.#signatures);
    const explanation = this.#refusal || null;
    const stop_details =
      reason === "refusal" ? { type: "refusal", category: null, explanation } : null;
    const delta = { stop_reason: STOP_REASONS[reason], stop_sequence: null, stop_details };
    yield { type: "message_delta", delta, usage: toMessagesUsage(usage) };
    yield { type: "message_stop" };
  }
}

/** The content of the pages is encrypted: only the vendor reads it. */
function toSearchResult(tool_use_id: string, item: Item): JsonObject {
  const { results } = item as unknown as { results?: readonly JsonObject[] };
  const content = (results ?? []).map(({ url, title }, at) => ({
    type: "web_search_result",
    url,
    title,
    page_age: null,
    encrypted_content: `sealed-${at}`,
  }));
  return { type: "web_search_tool_result", tool_use_id, content } as JsonObject;
}

function toCitation({ annotation }: AnnotationAdded): JsonObject {
  const { url, title } = annotation as { url?: string; title?: string };
  const citation = {
    type: "web_search_result_location",
    url: url ?? "",
    title: title ?? "",
    encrypted_index: "sealed-index",
    cited_text: "What the page says.",
  };
  return { type: "citations_delta", citation };
}

const EMPTY = {
  text: { type: "text", text: "" },
  thinking: { type: "thinking", thinking: "", signature: "" },
  tool_use: {},
} as const;

const STOP_REASONS: Readonly<Record<EndReason, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  pause: "pause_turn",
};

function toMessagesUsage(usage: Usage): JsonObject {
  const { cached_tokens, cache_write_tokens } = usage.input_tokens_details;
  const searches = usage.native_calls?.["web_search"] ?? 0;
  return {
    input_tokens: Math.max(0, usage.input_tokens - cached_tokens - cache_write_tokens),
    cache_creation_input_tokens: cache_write_tokens,
    cache_read_input_tokens: cached_tokens,
    output_tokens: usage.output_tokens,
    output_tokens_details: { thinking_tokens: usage.output_tokens_details.reasoning_tokens },
    ...(searches > 0 && {
      server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 },
    }),
  };
}
