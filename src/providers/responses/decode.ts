/**
 * Decodes the Responses stream to model events, one method for each event.
 *
 * Items are found by `output_index`, and by item id only if that is missing: some servers change ids from
 * event to event, and older ones send no index. Both vocabularies are read; the one that the server used
 * decides how results are sent back.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject, tryParsePayload } from "../../base/json.ts";
import type { Continuation, EndReason, ModelEvent } from "../../protocol/model-events.ts";
import { toUsage, type Usage } from "../../protocol/usage.ts";
import { toToldCost } from "../models/told-cost.ts";
import type { ModelRequest } from "../provider.ts";
import { toVendorFailure } from "../provider-failure.ts";
import { readShape, text } from "../shape.ts";
import type { Decoder, Quirks } from "../wire.ts";
import {
  addLogprobs,
  addText,
  isCall,
  type OpenWireItem,
  toArguments,
  toBegunItem,
  toEndedItem,
  toItem,
} from "./open-item.ts";
import { createOwnCalls, findListed, isUnlisted, type OwnCalls } from "./own-calls.ts";
import {
  DELTA_EVENT,
  EVENT,
  isPlainDelta,
  OTHER_EVENT,
  OUTPUT,
  partsOf,
  RESPONSE,
  type WireEvent,
  type WireItem,
  type WireResponse,
  type WireUsage,
} from "./schema.ts";
import { toBegun, writeDeltas } from "./whole-item.ts";

export function createDecoder(request: ModelRequest, quirks: Quirks): Decoder {
  return new ResponsesDecoder(request, quirks);
}

type Handler = (decoder: ResponsesDecoder, event: WireEvent, out: ModelEvent[]) => void;

const readArguments: Handler = (decoder, event, out) => decoder.readArguments(event, out);
const readAllArguments: Handler = (decoder, event, out) => decoder.readAllArguments(event, out);
const readTerminal: Handler = (decoder, event, out) => decoder.readTerminal(event, out);

/** Pieces of the answer, which most events are. */
const DELTAS: ReadonlyMap<unknown, Handler> = new Map<unknown, Handler>([
  ["response.output_text.delta", (decoder, event, out) => decoder.readText(event, out)],
  ["response.function_call_arguments.delta", readArguments],
  ["response.tool_call_arguments.delta", readArguments],
  ["response.custom_tool_call_input.delta", readArguments],
  [
    "response.reasoning_summary_text.delta",
    (decoder, event, out) => decoder.readSummary(event, out),
  ],
  ["response.reasoning_text.delta", (decoder, event, out) => decoder.readReasoning(event, out)],
  ["response.refusal.delta", (decoder, event, out) => decoder.readRefusal(event, out)],
]);

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  [
    "response.output_text.annotation.added",
    (decoder, event, out) => decoder.readAnnotation(event, out),
  ],
  ["response.function_call_arguments.done", readAllArguments],
  ["response.tool_call_arguments.done", readAllArguments],
  ["response.custom_tool_call_input.done", readAllArguments],
  ["response.created", (decoder, event, out) => decoder.readCreated(event, out)],
  ["response.output_item.added", (decoder, event, out) => decoder.readAdded(event, out)],
  ["response.output_item.done", (decoder, event, out) => decoder.readDone(event, out)],
  ["response.completed", readTerminal],
  ["response.incomplete", readTerminal],
  ["response.failed", (decoder, event) => decoder.readFailed(event)],
]);

/** Events whose content the items repeat. */
const IGNORED: ReadonlySet<string> = new Set([
  "response.in_progress",
  "response.queued",
  "response.content_part.added",
  "response.content_part.done",
  "response.output_text.done",
  "response.refusal.done",
  "response.reasoning_text.done",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.done",
]);

class ResponsesDecoder implements Decoder {
  usage: Usage | undefined;
  readonly #stored: boolean;
  readonly #canChain: boolean;
  #responseId = "";
  #isStarted = false;
  #isEnded = false;
  #nextIndex = 0;
  #dialect: Continuation["dialect"] = "function_call";
  #hasCalls = false;
  #hasRefusal = false;
  readonly #open = new Map<number, OpenWireItem>();
  readonly #indexById = new Map<string, number>();
  /** Our indexes by the server's, which differ if a server gives several items one index. */
  readonly #indexByPlace = new Map<number, number>();
  readonly #own: OwnCalls;

  constructor(request: ModelRequest, quirks: Quirks) {
    this.#stored = quirks.store ?? false;
    this.#canChain = request.continuation !== "replay";
    this.#own = createOwnCalls(request, quirks);
  }

  read(data: string, out: ModelEvent[]): void {
    const parsed = tryParsePayload(data);
    if (!isJsonObject(parsed) || this.#isEnded) return;
    const { type } = parsed;
    const piece = DELTAS.get(type);
    if (piece) piece(this, isPlainDelta(parsed) ? parsed : readShape(parsed, DELTA_EVENT), out);
    else if (type === undefined || type === null) this.#readWhole(parsed, out);
    else this.#readOther(readShape(type, text), parsed, out);
  }

  #readOther(type: string, parsed: JsonObject, out: ModelEvent[]): void {
    if (type === "error") throw toVendorFailure(parsed);
    const handler = HANDLERS.get(type);
    if (handler) return handler(this, readShape(parsed, EVENT), out);
    // A progress event that does not fit its kind is skipped: the answer is complete without it.
    const isTold = !IGNORED.has(type) && OTHER_EVENT.check(parsed) === undefined;
    if (isTold) out.push({ type: "opaque", event: parsed });
  }

  end(): void {
    if (this.#isEnded) return;
    throw new Failure(
      "provider_broke_protocol",
      "The stream ended before the answer did: no `response.completed`.",
    );
  }

  /** Reads an answer that was not streamed, or an error body without a type. */
  #readWhole(body: JsonObject, out: ModelEvent[]): void {
    if (body["object"] === "response" || Array.isArray(body["output"])) {
      const response = readShape(body, RESPONSE);
      if (response.status === "failed") return this.readFailed({ response });
      this.readTerminal({ response }, out);
    } else if (body["error"]) {
      throw toVendorFailure(body);
    }
  }

  readCreated({ response }: WireEvent, out: ModelEvent[]): void {
    this.#responseId = response?.id ?? "";
    if (this.#isStarted) return;
    this.#isStarted = true;
    out.push({ type: "start", response_id: this.#responseId, model: response?.model ?? "" });
  }

  /** Reads an added item. At a used index, an item with another id is another item. */
  readAdded(event: WireEvent, out: ModelEvent[]): void {
    const item = event.item && this.#own.toOwn(event.item);
    if (!item || (this.#isTaken(event) && (!item.id || this.#indexById.has(item.id)))) return;
    this.#openItem(item, this.#place(event, item), out);
  }

  readText(event: WireEvent, out: ModelEvent[]): void {
    const open = this.#find(event, "message") ?? this.#openMessage(event, out);
    if (!open) return;
    const part = event.content_index ?? 0;
    const delta = event.delta ?? "";
    const { logprobs } = event;
    const written = addText(open, { kind: "output_text", part }, delta);
    if (!logprobs || logprobs.length === 0) {
      out.push({ type: "text_delta", index: open.index, part, delta });
    } else {
      addLogprobs(written, logprobs);
      out.push({ type: "text_delta", index: open.index, part, delta, logprobs });
    }
  }

  readRefusal(event: WireEvent, out: ModelEvent[]): void {
    const open = this.#find(event, "message") ?? this.#openMessage(event, out);
    if (!open) return;
    this.#hasRefusal = true;
    const part = event.content_index ?? 0;
    const delta = event.delta ?? "";
    addText(open, { kind: "refusal", part }, delta);
    out.push({ type: "refusal_delta", index: open.index, part, delta });
  }

  readSummary(event: WireEvent, out: ModelEvent[]): void {
    this.#readThought(event, { part: event.summary_index ?? 0, kind: "summary" }, out);
  }

  readReasoning(event: WireEvent, out: ModelEvent[]): void {
    this.#readThought(event, { part: event.content_index ?? 0, kind: "text" }, out);
  }

  #readThought(
    event: WireEvent,
    { part, kind }: { part: number; kind: "summary" | "text" },
    out: ModelEvent[],
  ): void {
    const open =
      this.#find(event, "reasoning") ??
      this.#openNext({ type: "reasoning", summary: [] }, event, out);
    if (!open) return;
    const delta = event.delta ?? "";
    addText(open, { kind: kind === "summary" ? "summary_text" : "reasoning_text", part }, delta);
    out.push({ type: "reasoning_delta", index: open.index, part, kind, delta });
  }

  readArguments(event: WireEvent, out: ModelEvent[]): void {
    const open = this.#find(event);
    const delta = event.delta ?? "";
    if (!open || delta === "" || open.item.type?.includes(":")) return;
    open.arguments += delta;
    out.push({ type: "arguments_delta", index: open.index, delta });
  }

  /** Reads the whole arguments, which replace the fragments, or stand in for missing ones. */
  readAllArguments(event: WireEvent, out: ModelEvent[]): void {
    const open = this.#find(event);
    const whole = event.arguments ?? event.input;
    if (!open || typeof whole !== "string" || open.item.type?.includes(":")) return;
    if (open.arguments === "" && whole !== "") {
      out.push({ type: "arguments_delta", index: open.index, delta: whole });
    }
    open.arguments = whole;
  }

  readAnnotation(event: WireEvent, out: ModelEvent[]): void {
    const open = this.#find(event);
    if (!open || !event.annotation) return;
    const { annotation } = event;
    out.push({ type: "annotation", index: open.index, part: event.content_index ?? 0, annotation });
  }

  readDone(event: WireEvent, out: ModelEvent[]): void {
    const item = event.item && this.#own.toOwn(event.item);
    if (!item) return;
    const found = this.#find({ ...event, item_id: item.id ?? "" });
    // A repeated event.
    if (!found && this.#isTaken(event)) return;
    if (isUnlisted(item)) {
      const open = found ?? this.#openItem(item, this.#place(event, item), out);
      open.done = item;
    } else if (found) this.#closeItem(found, item, out);
    else this.#addWhole(item, this.#place(event, item), out);
  }

  readTerminal(event: WireEvent, out: ModelEvent[]): void {
    const response = event.response ?? {};
    if (!this.#isStarted) this.readCreated({ response }, out);
    if (this.#nextIndex === 0) this.#readOutput(readShape(response.output ?? [], OUTPUT), out);
    const status = response.status === "incomplete" ? "incomplete" : "completed";
    for (const open of [...this.#open.values()]) {
      const done = open.done && (findListed(open.done, response.output) ?? open.done);
      this.#closeItem(open, done ?? toEndedItem(open, status), out);
    }
    this.#isEnded = true;
    out.push({
      type: "end",
      reason: this.#endReason(response),
      usage: readUsage(response.usage ?? {}, this.#own.counts(response.usage ?? {})),
      ...toToldCost(response.usage ?? {}),
      continuation: this.#continuation(response),
    });
  }

  readFailed({ response }: WireEvent): never {
    if (response?.usage) this.usage = readUsage(response.usage);
    const error = response?.error as Json | null | undefined;
    throw toVendorFailure(error ?? { message: "the response failed" });
  }

  /** Reads the items of the last event, for servers that did not stream them. */
  #readOutput(output: readonly WireItem[], out: ModelEvent[]): void {
    for (const item of output) this.#addWhole(this.#own.toOwn(item), this.#nextIndex, out);
  }

  /** Adds an item that was never announced. */
  #addWhole(item: WireItem, index: number, out: ModelEvent[]): void {
    const open = this.#openItem(toBegun(item), index, out);
    const given = item.type === "custom_tool_call" ? (item.input ?? "") : toArguments(item, open);
    writeDeltas({ item, index, text: isCall(item) ? given : "" }, out);
    const isMessage = item.type === "message";
    if (isMessage && partsOf(item).some(({ type }) => type === "refusal")) this.#hasRefusal = true;
    this.#closeItem(open, item, out);
  }

  /** Finds an item by index, otherwise by id, otherwise the last opened one if it has the right type. */
  #find(event: WireEvent, type?: string): OpenWireItem | undefined {
    const { output_index } = event;
    if (typeof output_index === "number") {
      return this.#open.get(this.#indexByPlace.get(output_index) ?? -1);
    }
    const id = event.item_id ?? event.tool_call_id ?? event.call_id;
    const index = typeof id === "string" ? this.#indexById.get(id) : undefined;
    if (index !== undefined) return this.#open.get(index);
    const last = [...this.#open.values()].at(-1);
    return type === undefined || last?.item.type === type ? last : undefined;
  }

  /** True if an item has begun at the server's index, ended or not. */
  #isTaken({ output_index }: WireEvent): boolean {
    return typeof output_index === "number" && this.#indexByPlace.has(output_index);
  }

  #place(event: WireEvent, item: WireItem): number {
    const output_index = event.output_index ?? this.#nextIndex;
    const index = this.#isTaken(event) ? this.#nextIndex : output_index;
    this.#indexByPlace.set(output_index, index);
    for (const id of [item.id, item.call_id]) if (id) this.#indexById.set(id, index);
    return index;
  }

  #openMessage(event: WireEvent, out: ModelEvent[]): OpenWireItem | undefined {
    const message = { type: "message", role: "assistant", status: "in_progress", content: [] };
    return this.#openNext(event.item_id ? { ...message, id: event.item_id } : message, event, out);
  }

  /**
   * Opens an item that the server never announced, and ends the one of that kind that it opened before. Not
   * at an index where an item has ended: such an event is late, and the item itself repeats it.
   */
  #openNext(item: WireItem, event: WireEvent, out: ModelEvent[]): OpenWireItem | undefined {
    if (this.#isTaken(event)) return undefined;
    for (const open of [...this.#open.values()]) {
      if (open.isImplied) this.#closeItem(open, toEndedItem(open, "completed"), out);
    }
    const open = this.#openItem(item, this.#place(event, item), out);
    open.isImplied = true;
    return open;
  }

  #openItem(item: WireItem, index: number, out: ModelEvent[]): OpenWireItem {
    if (!this.#isStarted) this.readCreated({}, out);
    this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    if (item.type === "tool_call") this.#dialect = "tool_call";
    if (isCall(item)) this.#hasCalls = true;
    const open: OpenWireItem = {
      index,
      item,
      parts: [],
      arguments: "",
      isImplied: false,
      done: undefined,
    };
    this.#open.set(index, open);
    out.push({ type: "item_start", index, item: toBegunItem(open) });
    return open;
  }

  #closeItem(open: OpenWireItem, done: WireItem, out: ModelEvent[]): void {
    this.#open.delete(open.index);
    this.#own.count(done);
    out.push({ type: "item_end", index: open.index, item: toItem(done, open) });
  }

  #endReason(response: WireResponse): EndReason {
    if (response.status === "incomplete" || response.incomplete_details) {
      return response.incomplete_details?.reason === "content_filter" ? "refusal" : "length";
    }
    if (this.#hasCalls) return "tool_calls";
    return this.#hasRefusal ? "refusal" : "stop";
  }

  #continuation(response: WireResponse): Continuation | undefined {
    const response_id = response.id ?? this.#responseId;
    if (!response_id || !this.#canChain) return undefined;
    return {
      response_id,
      dialect: this.#dialect,
      stored: this.#stored && response.store !== false,
    };
  }
}

function readUsage(usage: WireUsage, nativeCalls: Record<string, number> = {}): Usage {
  return toUsage({
    input: usage.input_tokens ?? 0,
    cached: usage.input_tokens_details?.cached_tokens ?? 0,
    cacheWrite: usage.input_tokens_details?.cache_write_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
    nativeCalls,
  });
}
