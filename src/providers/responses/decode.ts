/**
 * The Responses stream to model events, one method an event.
 *
 * Places are kept by `output_index` and only where that is missing by item id: there are servers
 * whose ids change from event to event, and older ones that send no index. Both vocabularies are
 * read at once; which one was spoken decides how the results are given back.
 */

import { Failure } from "../../base/failure.ts";
import { type JsonObject, tryParsePayload } from "../../base/json.ts";
import type { Annotation } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import type { Continuation, EndReason, ModelEvent } from "../../protocol/model-events.ts";
import { toUsage, type Usage } from "../../protocol/usage.ts";
import type { ModelRequest } from "../provider.ts";
import { toVendorFailure } from "../provider-failure.ts";
import type { Decoder, Quirks } from "../wire.ts";
import { addLogprobs, addText, type OpenItem, toEndedItem, withSaid } from "./open-item.ts";
import type { WireEvent, WireItem, WireResponse, WireUsage } from "./schema.ts";
import { toBegun, writeDeltas } from "./whole-item.ts";

export function createDecoder(request: ModelRequest, quirks: Quirks): Decoder {
  return new ResponsesDecoder(request, quirks);
}

type Handler = (decoder: ResponsesDecoder, event: WireEvent, out: ModelEvent[]) => void;

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["response.output_text.delta", (decoder, event, out) => decoder.readText(event, out)],
  [
    "response.function_call_arguments.delta",
    (decoder, event, out) => decoder.readArguments(event, out),
  ],
  [
    "response.tool_call_arguments.delta",
    (decoder, event, out) => decoder.readArguments(event, out),
  ],
  [
    "response.custom_tool_call_input.delta",
    (decoder, event, out) => decoder.readArguments(event, out),
  ],
  [
    "response.reasoning_summary_text.delta",
    (decoder, event, out) => decoder.readSummary(event, out),
  ],
  ["response.reasoning_text.delta", (decoder, event, out) => decoder.readReasoning(event, out)],
  ["response.refusal.delta", (decoder, event, out) => decoder.readRefusal(event, out)],
  [
    "response.output_text.annotation.added",
    (decoder, event, out) => decoder.readAnnotation(event, out),
  ],
  [
    "response.function_call_arguments.done",
    (decoder, event, out) => decoder.readAllArguments(event, out),
  ],
  [
    "response.tool_call_arguments.done",
    (decoder, event, out) => decoder.readAllArguments(event, out),
  ],
  [
    "response.custom_tool_call_input.done",
    (decoder, event, out) => decoder.readAllArguments(event, out),
  ],
  ["response.created", (decoder, event, out) => decoder.readCreated(event, out)],
  ["response.output_item.added", (decoder, event, out) => decoder.readAdded(event, out)],
  ["response.output_item.done", (decoder, event, out) => decoder.readDone(event, out)],
  ["response.completed", (decoder, event, out) => decoder.readTerminal(event, out)],
  ["response.incomplete", (decoder, event, out) => decoder.readTerminal(event, out)],
  ["response.failed", (decoder, event) => decoder.readFailed(event)],
  ["error", (_, event) => fail(event)],
  // What these say is said again by the items themselves.
  ["response.in_progress", ignore],
  ["response.queued", ignore],
  ["response.content_part.added", ignore],
  ["response.content_part.done", ignore],
  ["response.output_text.done", ignore],
  ["response.refusal.done", ignore],
  ["response.reasoning_text.done", ignore],
  ["response.reasoning_summary_part.added", ignore],
  ["response.reasoning_summary_part.done", ignore],
  ["response.reasoning_summary_text.done", ignore],
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
  readonly #open = new Map<number, OpenItem>();
  readonly #indexById = new Map<string, number>();
  /** Our places by the server's, which differ where a server gives several items one place. */
  readonly #indexByPlace = new Map<number, number>();

  constructor(request: ModelRequest, quirks: Quirks) {
    this.#stored = quirks.store ?? false;
    this.#canChain = request.continuation !== "replay";
  }

  read(data: string, out: ModelEvent[]): void {
    const event = tryParsePayload(data) as WireEvent | undefined;
    if (typeof event !== "object" || event === null || this.#isEnded) return;
    if (event.type === undefined) return this.#readWhole(event, out);
    const handler = HANDLERS.get(event.type);
    if (handler) handler(this, event, out);
    else out.push({ type: "opaque", event: event as JsonObject });
  }

  end(): void {
    if (this.#isEnded) return;
    throw new Failure(
      "provider_broke_protocol",
      "The stream ended before the answer did: no `response.completed`.",
    );
  }

  /** An answer that was not streamed, or an error body without a type. */
  #readWhole(body: WireEvent, out: ModelEvent[]): void {
    const response = body as WireResponse & { object?: string };
    if (response.object === "response" || Array.isArray(response.output)) {
      if (response.status === "failed") return this.readFailed({ response });
      this.readTerminal({ response }, out);
    } else if (response.error) {
      fail(body);
    }
  }

  readCreated({ response }: WireEvent, out: ModelEvent[]): void {
    this.#responseId = response?.id ?? "";
    if (this.#isStarted) return;
    this.#isStarted = true;
    out.push({ type: "start", response_id: this.#responseId, model: response?.model ?? "" });
  }

  /** At a place that is taken, an item under another id is another item. */
  readAdded(event: WireEvent, out: ModelEvent[]): void {
    const { item } = event;
    if (!item || (this.#isTaken(event) && (!item.id || this.#indexById.has(item.id)))) return;
    this.#openItem(item, this.#place(event, item), out);
  }

  readText(event: WireEvent, out: ModelEvent[]): void {
    const open = this.#find(event, "message") ?? this.#openMessage(event, out);
    if (!open) return;
    const { content_index: part = 0, delta = "", logprobs } = event;
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
    const { content_index: part = 0, delta = "" } = event;
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
    if (!open || delta === "") return;
    open.arguments += delta;
    out.push({ type: "arguments_delta", index: open.index, delta });
  }

  /** The whole text replaces the fragments; a server that sent none is caught up with here. */
  readAllArguments(event: WireEvent, out: ModelEvent[]): void {
    const open = this.#find(event);
    const whole = event.arguments ?? event.input;
    if (!open || whole === undefined) return;
    if (open.arguments === "" && whole !== "") {
      out.push({ type: "arguments_delta", index: open.index, delta: whole });
    }
    open.arguments = whole;
  }

  readAnnotation(event: WireEvent, out: ModelEvent[]): void {
    const open = this.#find(event);
    if (!open || !event.annotation) return;
    const annotation = event.annotation as unknown as Annotation;
    out.push({ type: "annotation", index: open.index, part: event.content_index ?? 0, annotation });
  }

  readDone(event: WireEvent, out: ModelEvent[]): void {
    if (!event.item) return;
    const found = this.#find({ ...event, item_id: event.item.id ?? "" });
    // Said twice.
    if (!found && this.#isTaken(event)) return;
    if (found) this.#closeItem(found, event.item, out);
    else this.#addWhole(event.item, this.#place(event, event.item), out);
  }

  readTerminal({ response = {} }: WireEvent, out: ModelEvent[]): void {
    if (!this.#isStarted) this.readCreated({ response }, out);
    if (this.#nextIndex === 0) this.#readOutput(response.output ?? [], out);
    const status = response.status === "incomplete" ? "incomplete" : "completed";
    for (const open of [...this.#open.values()]) {
      this.#closeItem(open, toEndedItem(open, status), out);
    }
    this.#isEnded = true;
    out.push({
      type: "end",
      reason: this.#endReason(response),
      usage: readUsage(response.usage ?? {}),
      continuation: this.#continuation(response),
    });
  }

  readFailed({ response }: WireEvent): never {
    if (response?.usage) this.usage = readUsage(response.usage);
    throw toVendorFailure(response?.error ?? { message: "the response failed" });
  }

  /** A server that streamed no items may still have put them into its last event. */
  #readOutput(output: readonly WireItem[], out: ModelEvent[]): void {
    for (const item of output) this.#addWhole(item, this.#nextIndex, out);
  }

  /** An item that was never announced. */
  #addWhole(item: WireItem, index: number, out: ModelEvent[]): void {
    const open = this.#openItem(toBegun(item), index, out);
    const isCall = CALL_TYPES.has(item.type ?? "");
    const text = item.type === "custom_tool_call" ? (item.input ?? "") : toArguments(item, open);
    writeDeltas({ item, index, text: isCall ? text : "" }, out);
    if (item.content?.some(({ type }) => type === "refusal")) this.#hasRefusal = true;
    this.#closeItem(open, item, out);
  }

  /** By place, else by id, else the last one that was opened, if it is of the kind that is meant. */
  #find(event: WireEvent, type?: string): OpenItem | undefined {
    if (event.output_index !== undefined) {
      return this.#open.get(this.#indexByPlace.get(event.output_index) ?? -1);
    }
    const id = event.item_id ?? event.tool_call_id ?? event.call_id;
    const index = id === undefined ? undefined : this.#indexById.get(id);
    if (index !== undefined) return this.#open.get(index);
    const last = [...this.#open.values()].at(-1);
    return type === undefined || last?.item.type === type ? last : undefined;
  }

  /** Whether an item has begun at the server's place, ended or not. */
  #isTaken({ output_index }: WireEvent): boolean {
    return output_index !== undefined && this.#indexByPlace.has(output_index);
  }

  #place(event: WireEvent, item: WireItem): number {
    const { output_index = this.#nextIndex } = event;
    const index = this.#isTaken(event) ? this.#nextIndex : output_index;
    this.#indexByPlace.set(output_index, index);
    for (const id of [item.id, item.call_id]) if (id) this.#indexById.set(id, index);
    return index;
  }

  #openMessage(event: WireEvent, out: ModelEvent[]): OpenItem | undefined {
    const message = { type: "message", role: "assistant", status: "in_progress", content: [] };
    return this.#openNext(event.item_id ? { ...message, id: event.item_id } : message, event, out);
  }

  /**
   * Opens an item the server never announced; what it opened before, of that kind, has ended. Not
   * at a place where one has ended: what comes there is late, and said again by the item itself.
   */
  #openNext(item: WireItem, event: WireEvent, out: ModelEvent[]): OpenItem | undefined {
    if (this.#isTaken(event)) return undefined;
    for (const open of [...this.#open.values()]) {
      if (open.isImplied) this.#closeItem(open, toEndedItem(open, "completed"), out);
    }
    const open = this.#openItem(item, this.#place(event, item), out);
    open.isImplied = true;
    return open;
  }

  #openItem(item: WireItem, index: number, out: ModelEvent[]): OpenItem {
    if (!this.#isStarted) this.readCreated({}, out);
    this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    if (item.type === "tool_call") this.#dialect = "tool_call";
    if (CALL_TYPES.has(item.type ?? "")) this.#hasCalls = true;
    const open: OpenItem = { index, item, parts: [], arguments: "", isImplied: false };
    this.#open.set(index, open);
    out.push({ type: "item_start", index, item: toItem({ ...item, ...withoutText(item) }, open) });
    return open;
  }

  #closeItem(open: OpenItem, done: WireItem, out: ModelEvent[]): void {
    this.#open.delete(open.index);
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

const CALL_TYPES: ReadonlySet<string> = new Set(["function_call", "tool_call", "custom_tool_call"]);

/** The item in our vocabulary: the older `tool_call` becomes a `function_call`, the rest is kept. */
function toItem(item: WireItem, open: OpenItem): Item {
  if (item.type !== "tool_call" && item.type !== "function_call") {
    return withSaid(item, open) as unknown as Item;
  }
  const { type: _, tool_call_id: __, ...rest } = item as WireItem & { tool_call_id?: string };
  const call_id = item.call_id ?? item.id ?? open.item.call_id ?? open.item.id ?? "";
  return {
    ...rest,
    type: "function_call",
    call_id,
    name: item.name ?? "",
    arguments: toArguments(item, open),
  } as Item;
}

/** JSON text; some servers send the parsed object instead. */
function toArguments({ arguments: given }: WireItem, open: OpenItem): string {
  if (typeof given === "string" && given !== "") return given;
  if (given !== undefined && given !== null && given !== "") return JSON.stringify(given);
  return open.arguments;
}

/** A call opens without its arguments, whatever the server put there: they come as deltas. */
function withoutText(item: WireItem): WireItem {
  return item.type === "function_call" || item.type === "tool_call" ? { arguments: "" } : {};
}

function readUsage(usage: WireUsage): Usage {
  return toUsage({
    input: usage.input_tokens ?? 0,
    cached: usage.input_tokens_details?.cached_tokens ?? 0,
    cacheWrite: usage.input_tokens_details?.cache_write_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
  });
}

function fail(event: WireEvent): never {
  throw toVendorFailure(event as JsonObject);
}

function ignore(): void {}
