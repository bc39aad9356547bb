/**
 * Model events as lines of an Ollama answer, and as the one object of a plain answer.
 *
 * The fault kit knows the frames of event streams. So a line is first a frame under a name the kit
 * knows, and `toLines` removes the frame after the faults.
 */

import { toFailure } from "../../base/failure.ts";
import { asJson, isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { encodeSse } from "../../base/sse.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelEnd, ModelEvent } from "../../protocol/model-events.ts";
import type { Piece } from "../exchange/exchange.ts";
import { dataOf } from "../faults/frames.ts";

export interface OllamaAnswer {
  readonly model: string;
  /** ISO 8601. */
  readonly created_at: string;
}

type Batches = AsyncIterable<readonly ModelEvent[]>;

const DELTA = "ollama.delta";
const TERMINAL = "response.completed";

/** Yields frames. Ends after an `error` frame when the engine fails. */
export async function* encodeOllamaFrames(
  batches: Batches,
  answer: OllamaAnswer,
): AsyncGenerator<string, void> {
  try {
    for await (const batch of batches) {
      for (const event of batch) yield* encodeEvent(event, answer);
    }
  } catch (thrown) {
    yield encodeSse("error", { type: "error", error: toFailure(thrown).message });
  }
}

/** The whole answer. Rejects with the engine's failure. */
export async function collectOllama(batches: Batches, answer: OllamaAnswer): Promise<JsonObject> {
  const said = { content: "", thinking: "" };
  const calls: JsonObject[] = [];
  let last: JsonObject = {};
  const read = (event: ModelEvent): void => {
    const message = toMessage(event);
    if (typeof message?.["content"] === "string") said.content += message["content"];
    if (typeof message?.["thinking"] === "string") said.thinking += message["thinking"];
    if (event.type === "item_end") calls.push(...toCalls(event.item, calls.length));
    if (event.type === "end") last = toCounts(event);
  };
  for await (const batch of batches) for (const event of batch) read(event);
  const message = {
    role: "assistant",
    content: said.content,
    ...(said.thinking && { thinking: said.thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { ...answer, message, done: true, ...last };
}

/** Converts frames to lines. A piece that a fault put between them becomes a line unchanged. */
export async function* toLines(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void> {
  for await (const piece of pieces) yield typeof piece === "string" ? toLine(piece) : piece;
}

function toLine(frame: string): string {
  // A fault may have left out the end of the last line.
  const end = frame.endsWith("\n") ? "\n" : "";
  const data = dataOf(frame) ?? frame.trimEnd();
  const value = tryParseJson(data);
  if (!isJsonObject(value)) return data + end;
  const { type, ...line } = value;
  return JSON.stringify(type === "error" ? { error: toErrorText(value) } : line) + end;
}

function toErrorText({ error, message }: JsonObject): Json {
  if (isJsonObject(error)) return error["message"] ?? "";
  return error ?? message ?? "";
}

function* encodeEvent(event: ModelEvent, answer: OllamaAnswer): Generator<string> {
  const message = toMessage(event);
  if (message) {
    const said = { role: "assistant", content: "", ...message };
    const likely = event.type === "text_delta" && event.logprobs;
    const logprobs = likely ? { logprobs: asJson(likely) } : {};
    yield encodeSse(DELTA, { type: DELTA, ...answer, message: said, ...logprobs, done: false });
  }
  if (event.type !== "end") return;
  const nothing = { role: "assistant", content: "" };
  const counts = toCounts(event);
  yield encodeSse(TERMINAL, { type: TERMINAL, ...answer, message: nothing, done: true, ...counts });
}

/**
 * The fields that an event adds to the message; undefined for nothing. A refusal is text here, and a call
 * comes whole.
 */
function toMessage(event: ModelEvent): JsonObject | undefined {
  switch (event.type) {
    case "text_delta":
    case "refusal_delta":
      return { content: event.delta };
    case "reasoning_delta":
      return { thinking: event.delta };
    case "item_end": {
      const calls = toCalls(event.item, event.index);
      return calls.length > 0 ? { tool_calls: calls } : undefined;
    }
    default:
      return undefined;
  }
}

function toCalls(item: Item, index: number): JsonObject[] {
  if (item.type !== "function_call") return [];
  const made = tryParseJson(item.arguments);
  const { call_id: id, name } = item;
  return [{ id, function: { index, name, arguments: isJsonObject(made) ? made : {} } }];
}

/** Meaningless nanoseconds, and real counts. */
function toCounts({ reason, usage }: ModelEnd): JsonObject {
  return {
    done_reason: reason === "length" ? "length" : "stop",
    total_duration: 3_000_000,
    load_duration: 1_000_000,
    prompt_eval_count: usage.input_tokens,
    prompt_eval_duration: 1_000_000,
    eval_count: usage.output_tokens,
    eval_duration: 1_000_000,
  };
}
