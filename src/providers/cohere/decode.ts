/**
 * Decodes events of Cohere's chat API to model events.
 *
 * An answer consists of blocks of reasoning and text, a plan, and calls, in pieces; `message-end` says how
 * it ended. A text that has stopped stays open until something else begins, because its citations may come
 * after it.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject, tryParsePayload } from "../../base/json.ts";
import type { ItemStatus } from "../../protocol/item-fields.ts";
import type { EndReason, ModelEvent } from "../../protocol/model-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import { toUsage } from "../../protocol/usage.ts";
import { toMissingCall, toNamelessCall } from "../broken-answer.ts";
import type { ModelRequest } from "../provider.ts";
import { toVendorFailure } from "../provider-failure.ts";
import { readShape } from "../shape.ts";
import { toStopDetail } from "../stop-detail.ts";
import type { Decoder } from "../wire.ts";
import { OpenCall, OpenWords, type WordKind } from "./open-items.ts";
import type { ReadUsage } from "./schema.ts";
import {
  type CohereAnswerContent,
  type CohereAnswerMessage,
  type CohereEvent,
  EVENT,
  type ReadCall,
  type ReadEnding,
} from "./schema.ts";
import { toOwnNames } from "./tools.ts";

export function createDecoder(request: ModelRequest): Decoder {
  return new CohereDecoder(request);
}

class CohereDecoder implements Decoder {
  readonly #toolNames: ReadonlyMap<string, string>;
  #isStarted = false;
  #isEnded = false;
  #id = "";
  #nextIndex = 0;
  #words: OpenWords | undefined;
  /** The calls, by the server's number. */
  readonly #calls = new Map<number, OpenCall>();
  readonly #callIds = new Set<string>();
  #usage: Usage | undefined;

  constructor({ tools }: ModelRequest) {
    this.#toolNames = toOwnNames(tools);
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  read(data: string, out: ModelEvent[]): void {
    const parsed = tryParsePayload(data);
    if (!isJsonObject(parsed) || this.#isEnded) return;
    if (isFailure(parsed)) throw toVendorFailure(parsed);
    const event = isPlainText(parsed) ? parsed : readShape(parsed, EVENT);
    if (event.type) this.#readEvent(event.type, event, out);
    else if (event.message) this.#readWhole(event.message, event, out);
  }

  end(): void {
    if (this.#isEnded) return;
    throw new Failure(
      "provider_broke_protocol",
      "The stream ended before the answer did: no `message-end` came.",
    );
  }

  #readEvent(type: string, event: CohereEvent, out: ModelEvent[]): void {
    const { index, delta } = event;
    const message = delta?.message ?? {};
    switch (type) {
      case "message-start":
        return this.#start(event.id, out);
      case "content-start":
      case "content-delta":
        return this.#readContent(message.content, index ?? 0, out);
      case "tool-plan-delta":
        return this.#write("plan", 0, message.tool_plan, out);
      case "tool-call-start":
        return this.#readCallStart(message.tool_calls, index, out);
      case "tool-call-delta":
        return this.#readCallDelta(message.tool_calls, index, out);
      case "tool-call-end":
        return this.#closeCall(index ?? this.#lastCall, "completed", out);
      case "citation-start":
        return this.#cite(message.citations, out);
      case "message-end":
        return this.#finish(delta ?? event, out);
      default:
      // Ends of blocks and citations, and events that the API may add later: neither adds to the answer.
    }
  }

  #start(id: string | null | undefined, out: ModelEvent[]): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#id = id ?? "";
    // The API does not name the model that answers.
    out.push({ type: "start", response_id: this.#id, model: "" });
  }

  #readWhole(message: CohereAnswerMessage, answer: CohereEvent, out: ModelEvent[]): void {
    this.#start(answer.id, out);
    for (const [index, block] of toList<CohereAnswerContent | string>(message.content).entries()) {
      this.#readContent(block, index, out);
    }
    this.#cite(message.citations, out);
    this.#write("plan", 0, message.tool_plan, out);
    for (const [index, call] of toList(message.tool_calls).entries()) {
      this.#readCallStart(call, index, out);
      this.#closeCall(index, "completed", out);
    }
    this.#finish(answer, out);
  }

  #readContent(content: CohereAnswerMessage["content"], place: number, out: ModelEvent[]): void {
    for (const block of toList<CohereAnswerContent | string>(content)) {
      if (typeof block === "string") {
        this.#write("text", place, block, out);
      } else {
        this.#write("thought", place, block.thinking, out);
        this.#write("text", place, block.text, out);
      }
    }
  }

  /** Writes a delta. A block gets its position in the answer with its first text. */
  #write(kind: WordKind, place: number, delta: string | null | undefined, out: ModelEvent[]): void {
    if (!delta) return;
    if (this.#words?.kind !== kind) {
      this.#closeWords("completed", out);
      this.#start(undefined, out);
      this.#words = new OpenWords(kind, this.#nextIndex++, out);
    }
    this.#words?.write(place, delta, out);
  }

  #cite(citations: CohereAnswerMessage["citations"], out: ModelEvent[]): void {
    for (const citation of toList(citations)) this.#words?.cite(citation, out);
  }

  /** Starts a call. Calls without a number are distinguished by their order. */
  #readCallStart(
    started: CohereAnswerMessage["tool_calls"],
    index: number | null | undefined,
    out: ModelEvent[],
  ): void {
    for (const call of toList(started)) {
      const place = index ?? this.#callIds.size;
      this.#closeCall(place, "completed", out);
      this.#calls.set(place, this.#openCall(call, out));
    }
  }

  #readCallDelta(
    pieces: CohereAnswerMessage["tool_calls"],
    index: number | null | undefined,
    out: ModelEvent[],
  ): void {
    const place = index ?? this.#lastCall;
    const open = this.#calls.get(place);
    if (!open) return this.#readCallStart(pieces, place, out);
    for (const { function: called } of toList(pieces)) {
      open.write(toArguments(called?.arguments), out);
    }
  }

  #openCall({ id, function: called }: ReadCall, out: ModelEvent[]): OpenCall {
    const told = called?.name;
    if (!told) throw toNamelessCall();
    this.#closeWords("completed", out);
    this.#start(undefined, out);
    const name = this.#toolNames.get(told) ?? told;
    const call = new OpenCall({ callId: this.#freeId(id ?? ""), name }, this.#nextIndex++, out);
    call.write(toArguments(called.arguments), out);
    return call;
  }

  /** The id of a call. Results are matched by id, so a missing or repeated id is replaced. */
  #freeId(id: string): string {
    const count = this.#callIds.size;
    const isFree = id !== "" && !this.#callIds.has(id);
    const callId = isFree ? id : `${id || `call_${this.#id}`}_${count}`;
    this.#callIds.add(callId);
    return callId;
  }

  get #lastCall(): number {
    return [...this.#calls.keys()].at(-1) ?? 0;
  }

  #closeCall(place: number, status: ItemStatus, out: ModelEvent[]): void {
    this.#calls.get(place)?.close(status, out);
    this.#calls.delete(place);
  }

  #closeWords(status: ItemStatus, out: ModelEvent[]): void {
    this.#words?.close(status, out);
    this.#words = undefined;
  }

  #finish({ finish_reason, usage, error }: ReadEnding, out: ModelEvent[]): void {
    this.#usage = toCohereUsage(usage ?? {});
    const said = finish_reason ?? "";
    if (error || FAILED[said]) {
      throw toVendorFailure({ code: said || undefined, message: error || FAILED[said] });
    }
    this.#isEnded = true;
    if (said === "TOOL_CALL" && this.#callIds.size === 0) throw toMissingCall();
    const reason = END_REASONS[said] ?? (this.#callIds.size > 0 ? "tool_calls" : "stop");
    const status = reason === "length" ? "incomplete" : "completed";
    this.#start(undefined, out);
    this.#closeWords(status, out);
    for (const place of [...this.#calls.keys()]) this.#closeCall(place, status, out);
    const stop = toStopDetail(said);
    const end = { reason, usage: this.#usage, ...(stop ? { stop } : {}) };
    out.push({ type: "end", ...end, continuation: undefined });
  }
}

/** Any other reason is a plain end, or a request for the results of the calls. */
const END_REASONS: Readonly<Record<string, EndReason | undefined>> = {
  MAX_TOKENS: "length",
  ERROR_LIMIT: "length",
  ERROR_TOXIC: "refusal",
};

/** Finish reasons that are failures, with the message to use if the server sends none. */
const FAILED: Readonly<Record<string, string | undefined>> = {
  ERROR: "The model failed.",
  TIMEOUT: "The answer took longer than the server allows.",
};

/** A failure has a text in the field where an answer has its message. */
function isFailure({ type, error, message }: JsonObject): boolean {
  return type === "error" || Boolean(error) || typeof message === "string";
}

/** Recognizes the most common event without reading its whole shape, which takes four times as long. */
function isPlainText(event: JsonObject): event is JsonObject & CohereEvent {
  const { type, index, delta } = event;
  if (type !== "content-delta" || typeof index !== "number" || !isJsonObject(delta)) return false;
  const { message } = delta;
  const content = isJsonObject(message) ? message["content"] : undefined;
  return isJsonObject(content) && typeof content["text"] === "string" && !content["thinking"];
}

function toList<Of>(value: Of | readonly Of[] | null | undefined): readonly Of[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value as Of];
}

function toArguments(given: unknown): string {
  if (typeof given === "string") return given;
  return given === null || given === undefined ? "" : JSON.stringify(given as Json);
}

/** The tokens of an answer, as Cohere counts them: all of them, and those that are paid for. */
function toCohereUsage({ tokens, billed_units: billed, cached_tokens }: ReadUsage): Usage {
  const input = tokens?.input_tokens ?? billed?.input_tokens ?? 0;
  const output = tokens?.output_tokens ?? billed?.output_tokens ?? 0;
  return toUsage({
    input,
    cached: Math.min(input, cached_tokens ?? 0),
    unbilledInput: Math.max(0, input - (billed?.input_tokens ?? input)),
    output,
    reasoning: tokens?.reasoning_tokens ?? 0,
    unbilledOutput: Math.max(0, output - (billed?.output_tokens ?? output)),
  });
}
