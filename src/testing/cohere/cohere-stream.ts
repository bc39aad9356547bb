/**
 * Model events as events of Cohere's chat API in the order of the real one, and as the one object of a
 * plain answer, which is made of the same events.
 */

import { toFailure } from "../../base/failure.ts";
import { asJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { encodeSse } from "../../base/sse.ts";
import type { Annotation } from "../../protocol/content.ts";
import type { EndReason, ItemStart, ModelEnd, ModelEvent } from "../../protocol/model-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import { objectOf, objectsIn } from "./cohere-json.ts";

type Batches = AsyncIterable<readonly ModelEvent[]>;

export interface CohereAnswerOptions {
  readonly id: string;
  /** True if the model's thinking is a plan for its calls: so it is when thinking is switched off. */
  readonly isPlanning: boolean;
}

/** Yields whole frames. An engine that fails ends the answer with the reason `ERROR`. */
export async function* encodeCohereStream(
  batches: Batches,
  options: CohereAnswerOptions,
): AsyncGenerator<string, void> {
  try {
    for await (const event of toEvents(batches, options)) yield toFrame(event);
  } catch (thrown) {
    const delta = { error: toFailure(thrown).message, finish_reason: "ERROR" };
    yield toFrame({ type: "message-end", delta });
  }
  yield "data: [DONE]\n\n";
}

/** The whole answer. Rejects with the engine's failure. */
export async function collectCohere(
  batches: Batches,
  options: CohereAnswerOptions,
): Promise<JsonObject> {
  const whole = new WholeAnswer();
  for await (const event of toEvents(batches, options)) whole.add(event);
  return whole.finish(options.id);
}

function toFrame(event: JsonObject): string {
  return encodeSse(String(event["type"]), event);
}

async function* toEvents(
  batches: Batches,
  options: CohereAnswerOptions,
): AsyncGenerator<JsonObject, void> {
  const encoder = new EventEncoder(options);
  yield encoder.start();
  for await (const batch of batches) for (const event of batch) yield* encoder.encode(event);
}

class EventEncoder {
  readonly #options: CohereAnswerOptions;
  /** The current block of content, by the index of its item. */
  #open: { readonly at: number; readonly index: number } | undefined;
  #blocks = 0;
  #citations = 0;
  /** The numbers of calls, by the indexes of their items. */
  readonly #calls = new Map<number, number>();

  constructor(options: CohereAnswerOptions) {
    this.#options = options;
  }

  start(): JsonObject {
    const message = {
      role: "assistant",
      content: [],
      tool_plan: "",
      tool_calls: [],
      citations: [],
    };
    return { id: this.#options.id, type: "message-start", delta: { message } };
  }

  *encode(event: ModelEvent): Generator<JsonObject, void> {
    switch (event.type) {
      case "item_start":
        return yield* this.#startCall(event);
      case "text_delta":
      case "refusal_delta":
        return yield* this.#write(event, "text");
      case "reasoning_delta":
        if (!this.#options.isPlanning) return yield* this.#write(event, "thinking");
        return yield toDelta("tool-plan-delta", { tool_plan: event.delta });
      case "arguments_delta": {
        const tool_calls = { function: { arguments: event.delta } };
        return yield toDelta("tool-call-delta", { tool_calls }, this.#calls.get(event.index));
      }
      case "annotation":
        return yield* this.#cite(event.annotation);
      case "item_end":
        return yield* this.#endItem(event.index);
      case "end":
        return yield toEnding(event);
      default:
    }
  }

  *#startCall({ index: at, item }: ItemStart): Generator<JsonObject, void> {
    if (item.type !== "function_call") return;
    const index = this.#calls.size;
    this.#calls.set(at, index);
    const called = { name: item.name, arguments: "" };
    const tool_calls = { id: item.call_id, type: "function", function: called };
    yield toDelta("tool-call-start", { tool_calls }, index);
  }

  /** A block starts with its first piece. */
  *#write(
    { index: at, delta }: { index: number; delta: string },
    kind: "text" | "thinking",
  ): Generator<JsonObject, void> {
    if (this.#open?.at !== at) {
      this.#open = { at, index: this.#blocks++ };
      yield toDelta("content-start", { content: { type: kind, [kind]: "" } }, this.#open.index);
    }
    yield toDelta("content-delta", { content: { [kind]: delta } }, this.#open.index);
  }

  *#cite(annotation: Annotation): Generator<JsonObject, void> {
    const index = this.#citations++;
    const citations = toCitation(asJsonObject(annotation));
    yield toDelta("citation-start", { citations }, index);
    yield { type: "citation-end", index };
  }

  *#endItem(at: number): Generator<JsonObject, void> {
    const call = this.#calls.get(at);
    if (call !== undefined) yield { type: "tool-call-end", index: call };
    if (this.#open?.at !== at) return;
    yield { type: "content-end", index: this.#open.index };
    this.#open = undefined;
  }
}

function toDelta(type: string, message: JsonObject, index?: number): JsonObject {
  return { type, ...(index === undefined ? {} : { index }), delta: { message } };
}

/** The citation of a document that came with the request. */
function toCitation({ start_index, end_index, url, title, file_id }: JsonObject): JsonObject {
  const id = file_id ?? url ?? "doc:0";
  const document = { id, ...(title ? { title } : {}), ...(url ? { url } : {}) };
  const sources = [{ type: "document", id, document }];
  return { start: start_index, end: end_index, text: "", sources, type: "TEXT_CONTENT" };
}

function toEnding({ reason, usage }: ModelEnd): JsonObject {
  const delta = { finish_reason: FINISH_REASONS[reason], usage: toCohereCounts(usage) };
  return { type: "message-end", delta };
}

const FINISH_REASONS: Readonly<Record<EndReason, string>> = {
  stop: "COMPLETE",
  tool_calls: "TOOL_CALL",
  length: "MAX_TOKENS",
  refusal: "COMPLETE",
  pause: "COMPLETE",
};

/** What the server adds to a prompt is in its cache, and costs nothing. */
function toCohereCounts({ input_tokens, input_tokens_details, output_tokens }: Usage): JsonObject {
  const { cached_tokens } = input_tokens_details;
  return {
    billed_units: { input_tokens: input_tokens - cached_tokens, output_tokens },
    tokens: { input_tokens, output_tokens },
    cached_tokens,
  };
}

/** Joins the pieces. Parts without pieces are left out, as in the real API. */
class WholeAnswer {
  readonly #content: JsonObject[] = [];
  readonly #calls: JsonObject[] = [];
  readonly #citations: Json[] = [];
  #plan = "";
  #ending: JsonObject = {};

  add(event: JsonObject): void {
    const delta = objectOf(event["delta"]);
    const message = objectOf(delta["message"]);
    const index = Number(event["index"]);
    switch (event["type"]) {
      case "content-start":
        this.#content.push(objectOf(message["content"]));
        return;
      case "content-delta":
        this.#content[index] = join(this.#content[index] ?? {}, objectOf(message["content"]));
        return;
      case "tool-plan-delta":
        this.#plan += String(message["tool_plan"]);
        return;
      case "tool-call-start":
        this.#calls.push(objectOf(message["tool_calls"]));
        return;
      case "tool-call-delta":
        this.#addArguments(index, objectOf(message["tool_calls"]));
        return;
      case "citation-start":
        this.#citations.push(message["citations"] ?? null);
        return;
      case "message-end":
        this.#ending = delta;
    }
  }

  finish(id: string): JsonObject {
    const message = {
      role: "assistant",
      ...(this.#content.length > 0 && { content: this.#content }),
      ...(this.#plan && { tool_plan: this.#plan }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
      ...(this.#citations.length > 0 && { citations: objectsIn(this.#citations) }),
    };
    return { id, message, ...this.#ending };
  }

  #addArguments(index: number, piece: JsonObject): void {
    const call = this.#calls[index] ?? {};
    const joined = join(objectOf(call["function"]), objectOf(piece["function"]));
    // The real one returns an object even if the model wrote none.
    const given = tryParseJson(String(joined["arguments"])) === null ? "{}" : joined["arguments"];
    this.#calls[index] = { ...call, function: { ...joined, arguments: given } };
  }
}

/** Texts grow by their pieces. */
function join(before: JsonObject, piece: JsonObject): JsonObject {
  const grown = Object.entries(piece).map(([name, value]) => [
    name,
    `${before[name] ?? ""}${value}`,
  ]);
  return { ...before, ...Object.fromEntries(grown) };
}
