/**
 * Decodes the lines of an Ollama answer to model events: thinking and text come in pieces, calls come
 * whole, and the last line (`done`) has the counts.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { toUsage } from "../../protocol/usage.ts";
import { toMissingCall, toNamelessCall } from "../broken-answer.ts";
import { ItemWriter } from "../item-writer.ts";
import type { ModelRequest } from "../provider.ts";
import { toVendorFailure } from "../provider-failure.ts";
import { readShape } from "../shape.ts";
import type { Decoder } from "../wire.ts";
import {
  CHUNK,
  type OllamaChunk,
  type OllamaChunkCall,
  type OllamaLogprob,
  type OllamaToken,
} from "./schema.ts";

export function createDecoder(request: ModelRequest): Decoder {
  return new OllamaDecoder(request);
}

class OllamaDecoder implements Decoder {
  readonly #request: ModelRequest;
  readonly #items = new ItemWriter();
  #isStarted = false;
  #isEnded = false;
  /** Every call id of the conversation, including this answer's. Filled when the first call comes. */
  #callIds: Set<string> | undefined;

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  read(data: string, out: ModelEvent[]): void {
    if (this.#isEnded) return;
    const parsed = tryParseJson(data);
    if (!isJsonObject(parsed)) return;
    // Comes in place of all other fields if the server fails in the middle.
    if (parsed["error"]) throw toVendorFailure(parsed);
    const chunk = isPlainText(parsed) ? parsed : readShape(parsed, CHUNK);
    if (!chunk.message && !chunk.done) return;
    if (!this.#isStarted) this.#start(chunk, out);
    const { thinking, content, tool_calls } = chunk.message ?? {};
    if (thinking) this.#items.write("reasoning", thinking, out);
    if (content) this.#readText(content, chunk.logprobs, out);
    for (const call of tool_calls ?? []) this.#readCall(call, out);
    if (chunk.done) this.#finish(chunk, out);
  }

  end(): void {
    if (this.#isEnded) return;
    throw new Failure(
      "provider_broke_protocol",
      "The stream ended before the answer was complete: no line had `done`.",
    );
  }

  #start({ model }: OllamaChunk, out: ModelEvent[]): void {
    this.#isStarted = true;
    out.push({ type: "start", response_id: "", model: model ?? "" });
  }

  #readText(text: string, logprobs: OllamaChunk["logprobs"], out: ModelEvent[]): void {
    if (!logprobs || logprobs.length === 0) return this.#items.write("text", text, out);
    this.#items.writeLikely(text, logprobs.map(toLogprob), out);
  }

  #readCall({ id, function: made }: OllamaChunkCall, out: ModelEvent[]): void {
    if (!made?.name) throw toNamelessCall();
    const text = toArguments(made.arguments);
    this.#items.addCall({ call_id: this.#callId(id), name: made.name, arguments: text }, out);
  }

  /**
   * The id of a call. Results are matched by id, so a missing or repeated id is replaced; older servers
   * send none.
   */
  #callId(id: string | null | undefined): string {
    this.#callIds ??= new Set(this.#request.items.flatMap(toCallId));
    const taken = this.#callIds;
    let callId = id || `call_${taken.size}`;
    for (let next = taken.size; taken.has(callId); next++) callId = `${id || "call"}_${next}`;
    taken.add(callId);
    return callId;
  }

  #finish({ done_reason, prompt_eval_count, eval_count }: OllamaChunk, out: ModelEvent[]): void {
    this.#isEnded = true;
    if (CALLING.has(done_reason ?? "") && !this.#callIds) throw toMissingCall();
    const usage = toUsage({ input: prompt_eval_count ?? 0, output: eval_count ?? 0 });
    this.#items.finish(done_reason === "length" ? "length" : "whole", usage, out);
  }
}

/** Recognizes the most common line without reading its whole shape, which takes four times as long. */
function isPlainText(line: JsonObject): line is JsonObject & OllamaChunk {
  const { model, message, done, logprobs } = line;
  if (typeof model !== "string" || done !== false || logprobs || !isJsonObject(message))
    return false;
  const { content, thinking, tool_calls } = message;
  return typeof content === "string" && !thinking && !tool_calls;
}

/** Finish reasons that mean that a tool is called. Ollama has none; compatible servers do. */
const CALLING: ReadonlySet<string> = new Set(["tool_calls", "tool_call", "tool_use"]);

function toLogprob({ top_logprobs, ...chosen }: OllamaLogprob): Logprob {
  return { ...toToken(chosen), top_logprobs: (top_logprobs ?? []).map(toToken) };
}

function toToken({ token, logprob, bytes }: OllamaToken) {
  const text = token ?? "";
  return { token: text, logprob: logprob ?? 0, bytes: [...(bytes ?? Buffer.from(text))] };
}

function toArguments(given: unknown): string {
  return typeof given === "string" ? given : JSON.stringify(given ?? {});
}

function toCallId(item: Item): string[] {
  return item.type === "function_call" ? [item.call_id] : [];
}
