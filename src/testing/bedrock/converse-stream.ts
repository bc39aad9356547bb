/**
 * Model events as the events of `ConverseStream`, and as the one answer of `Converse`.
 *
 * In the service's own order: text and reasoning start with their first piece, calls with a start
 * of their own; the reason comes after all blocks, the counts after the reason.
 */

import { toFailure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { encodeSse } from "../../base/sse.ts";
import type { Item } from "../../protocol/items.ts";
import type { EndReason, ModelEvent } from "../../protocol/model-events.ts";
import { NO_USAGE, type Usage } from "../../protocol/usage.ts";
import { encodeTextFrame } from "./event-frames.ts";
import type { ReasoningMemory } from "./reasoning-memory.ts";

type Batches = AsyncIterable<readonly ModelEvent[]>;

/** Yields text frames. Ends after an exception when the engine fails. */
export async function* encodeConverseStream(
  batches: Batches,
  memory: ReasoningMemory,
): AsyncGenerator<string, void> {
  const toEvents = createEventEncoder(memory);
  yield encodeTextFrame("messageStart", { role: "assistant", p: "abcdefgh" });
  try {
    for await (const batch of batches) {
      for (const event of batch) {
        for (const [name, payload] of toEvents(event)) yield encodeTextFrame(name, payload);
      }
    }
  } catch (thrown) {
    yield encodeSse("error", { type: "error", message: toFailure(thrown).message });
  }
}

/** The whole answer. Rejects with the engine's failure. */
export async function collectConverse(
  batches: Batches,
  memory: ReasoningMemory,
): Promise<JsonObject> {
  const content: JsonObject[] = [];
  let end: { reason: EndReason; usage: Usage } = { reason: "stop", usage: NO_USAGE };
  const trail = createTrail(memory);
  for await (const batch of batches) {
    for (const event of batch) {
      if (event.type === "item_end") content.push(...toBlocks(event.item, trail));
      if (event.type === "end") end = event;
    }
  }
  return {
    output: { message: { role: "assistant", content } },
    stopReason: STOP_REASONS[end.reason],
    usage: toCounts(end.usage),
    metrics: { latencyMs: 1 },
  };
}

/** The service sends it with every call; its own package knows the word only for its own tools. */
const ORDINARY = { type: "tool_use" } as const;

type Named = readonly [name: string, payload: JsonObject];

function createEventEncoder(memory: ReasoningMemory): (event: ModelEvent) => Iterable<Named> {
  const trail = createTrail(memory);

  function* open(index: number, item: Item): Generator<Named> {
    if (item.type !== "function_call") return;
    const { call_id: toolUseId, name } = item;
    const start = { toolUse: { toolUseId, name, ...ORDINARY } };
    yield ["contentBlockStart", { contentBlockIndex: index, start, p: "abcd" }];
  }

  function* close(index: number, item: Item): Generator<Named> {
    if (item.type === "web_search_call") return yield* search(index, item);
    const signature = trail.follow(item);
    const delta = { reasoningContent: { signature } };
    if (signature) yield ["contentBlockDelta", { contentBlockIndex: index, delta, p: "abc" }];
    yield ["contentBlockStop", { contentBlockIndex: index, p: "abcdef" }];
  }

  /** A tool that the service runs itself: its call and its result are blocks of the answer. */
  function* search(index: number, item: Item): Generator<Named> {
    const { id, action } = item as Extract<Item, { type: "web_search_call" }>;
    const toolUseId = `tooluse_${id}`;
    const at = { contentBlockIndex: index * 1000, p: "abc" };
    const input = JSON.stringify({ query: action?.query ?? "" });
    const toolUse = { toolUseId, name: "nova_grounding", type: "server_tool_use" };
    yield ["contentBlockStart", { ...at, start: { toolUse } }];
    yield ["contentBlockDelta", { ...at, delta: { toolUse: { input } } }];
    yield ["contentBlockStop", at];
    const after = { ...at, contentBlockIndex: at.contentBlockIndex + 1 };
    const toolResult = { toolUseId, type: "nova_grounding_result", status: "success" };
    yield ["contentBlockStart", { ...after, start: { toolResult } }];
    yield ["contentBlockDelta", { ...after, delta: { toolResult: [{ json: {} }] } }];
    yield ["contentBlockStop", after];
  }

  function* end(reason: EndReason, usage: Usage): Generator<Named> {
    yield ["messageStop", { stopReason: STOP_REASONS[reason], p: "ab" }];
    yield ["metadata", { usage: toCounts(usage), metrics: { latencyMs: 1 }, p: "abcde" }];
  }

  return (event) => {
    if (event.type === "item_start") return open(event.index, event.item);
    if (event.type === "item_end") return close(event.index, event.item);
    if (event.type === "end") return end(event.reason, event.usage);
    const delta = toDelta(event);
    if (!delta || !("index" in event)) return [];
    return [["contentBlockDelta", { contentBlockIndex: event.index, delta, p: "abcdefghij" }]];
  };
}

/** A refusal is text here; the reason distinguishes it from an answer. */
function toDelta(event: ModelEvent): JsonObject | undefined {
  switch (event.type) {
    case "text_delta":
    case "refusal_delta":
      return { text: event.delta };
    case "reasoning_delta":
      return { reasoningContent: { text: event.delta } };
    case "arguments_delta":
      return { toolUse: { input: event.delta } };
    case "annotation": {
      const { url = "" } = event.annotation as { url?: string };
      const domain = url.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
      return { citation: { location: { web: { url, domain } } } };
    }
    default:
      return undefined;
  }
}

const STOP_REASONS: Readonly<Record<EndReason, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  refusal: "content_filtered",
  pause: "end_turn",
};

/** Signs reasoning, and notes which calls come after it. */
function createTrail(memory: ReasoningMemory): { follow(item: Item): string | undefined } {
  let last: string | undefined;
  return {
    follow(item) {
      if (item.type === "function_call" && last) memory.remember(item.call_id, last);
      if (item.type !== "reasoning") return undefined;
      last = memory.sign(reasoningText(item));
      return last;
    },
  };
}

function reasoningText(item: Extract<Item, { type: "reasoning" }>): string {
  return [...item.summary, ...(item.content ?? [])].map(({ text }) => text).join("");
}

function toBlocks(item: Item, trail: ReturnType<typeof createTrail>): JsonObject[] {
  const signature = trail.follow(item);
  if (item.type === "reasoning") {
    const signed = signature ? { signature } : {};
    return [{ reasoningContent: { reasoningText: { text: reasoningText(item), ...signed } } }];
  }
  if (item.type === "function_call") {
    const input = tryParseJson(item.arguments);
    const { call_id: toolUseId, name } = item;
    return [{ toolUse: { toolUseId, name, input: isJsonObject(input) ? input : {}, ...ORDINARY } }];
  }
  if (item.type !== "message" || typeof item.content === "string") return [];
  return item.content.flatMap((part) => {
    if (part.type === "output_text") return [{ text: part.text }];
    return part.type === "refusal" ? [{ text: part.refusal }] : [];
  });
}

function toCounts({ input_tokens, output_tokens, input_tokens_details }: Usage): JsonObject {
  const { cached_tokens, cache_write_tokens } = input_tokens_details;
  return {
    inputTokens: input_tokens - cached_tokens - cache_write_tokens,
    outputTokens: output_tokens,
    totalTokens: input_tokens + output_tokens,
    cacheReadInputTokens: cached_tokens,
    cacheWriteInputTokens: cache_write_tokens,
  };
}
