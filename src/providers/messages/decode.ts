/**
 * Decodes events of the Messages API to model events.
 *
 * An answer is a list of blocks, each with a start, deltas and a stop. Adjacent text blocks are one message
 * with a part each; every other block is an item of its own. A block that has stopped is closed when the
 * next one starts or the answer ends, because only the end says whether it was cut off.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParsePayload } from "../../base/json.ts";
import type { ItemStatus } from "../../protocol/item-fields.ts";
import { CALL_FIELDS, CONTAINER, fieldsOfCall } from "../../protocol/messages-blocks.ts";
import type { EndReason, ModelEvent } from "../../protocol/model-events.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Usage } from "../../protocol/usage.ts";
import { toMissingCall } from "../broken-answer.ts";
import { toVendorFailure } from "../provider-failure.ts";
import { readShape } from "../shape.ts";
import { toStopDetail } from "../stop-detail.ts";
import type { Decoder } from "../wire.ts";
import { type BlockPlace, HostedCalls } from "./hosted-calls.ts";
import { type OpenBlock, OpenCall, OpenForeign, OpenThought } from "./open-blocks.ts";
import { OpenMessage, OpenText } from "./open-message.ts";
import {
  type AnswerFields,
  DELTA_EVENT,
  EVENT,
  type MessagesBlockDelta,
  type MessagesEvent,
  READ_CALL,
  type ReadBlock,
} from "./schema.ts";
import { createUsageCount } from "./usage.ts";

/** `tools` are the offered tools: those in the form of the Responses API are answered in that form. */
export function createDecoder(tools: readonly Tool[] = []): Decoder {
  return new MessagesDecoder(tools);
}

type Ending = Pick<AnswerFields, "stop_reason" | "stop_sequence" | "stop_details" | "container">;

interface Slot {
  readonly block: OpenBlock;
  isStopped: boolean;
}

class MessagesDecoder implements Decoder {
  #responseId: string | undefined;
  #isEnded = false;
  #nextIndex = 0;
  /** The blocks by the server's number. */
  readonly #slots = new Map<number, Slot>();
  #message: OpenMessage | undefined;
  readonly #callIds = new Set<string>();
  readonly #usage = createUsageCount();
  readonly #hosted: HostedCalls;
  #stopReason: string | undefined;
  #stopSequence: string | undefined;
  #explanation: string | undefined;

  constructor(tools: readonly Tool[]) {
    this.#hosted = new HostedCalls(tools);
  }

  get usage(): Usage {
    return this.#usage.current();
  }

  read(data: string, out: ModelEvent[]): void {
    const parsed = tryParsePayload(data);
    if (!isJsonObject(parsed) || this.#isEnded) return;
    const { type, error } = parsed;
    if (type === "error" || error) throw toVendorFailure(error ?? parsed);
    if (type === "content_block_delta") return this.#readBlockDelta(readDelta(parsed), out);
    const event = readShape(parsed, EVENT);
    switch (type) {
      case "message_start":
        return this.#readStart(event.message ?? {}, out);
      case "content_block_start":
        return this.#readBlockStart(event, out);
      case "content_block_stop":
        return this.#readBlockStop(event.index ?? 0);
      case "message_delta":
        return this.#readMessageDelta(event, out);
      case "message_stop":
        return this.#finish(out);
      case "message":
        return this.#readWhole(event, out);
      default:
      // Pings, and events that the API may add later: neither is part of the answer.
    }
  }

  end(out: ModelEvent[]): void {
    if (this.#isEnded) return;
    if (this.#stopReason !== undefined) return this.#finish(out);
    throw new Failure(
      "provider_broke_protocol",
      "The stream ended before the answer did: no stop reason came.",
    );
  }

  /**
   * Reads the start. Some proxies send the start twice, which is harmless. Some lose their connection and
   * append a second answer to half of the first: the API would refuse a history made of both.
   */
  #readStart(message: AnswerFields, out: ModelEvent[]): void {
    const id = message.id ?? "";
    if (this.#responseId === undefined) return this.#start(message, out);
    if (id === this.#responseId || this.#nextIndex === 0) return;
    throw new Failure(
      "provider_broke_protocol",
      "A second answer began in the middle of the first: a server in between joined the two.",
    );
  }

  #start(message: AnswerFields, out: ModelEvent[]): void {
    this.#responseId = message.id ?? "";
    this.#usage.begin(message.usage);
    out.push({ type: "start", response_id: this.#responseId, model: message.model ?? "" });
    this.#readBlocks(message.content ?? [], out);
  }

  /** Reads whole blocks. They are numbered below 0, which a stream never uses. */
  #readBlocks(blocks: readonly ReadBlock[], out: ModelEvent[]): void {
    for (const [at, content_block] of blocks.entries()) {
      const index = -1 - at;
      this.#readBlockStart({ index, content_block }, out);
      this.#readBlockStop(index);
    }
  }

  #readWhole(answer: MessagesEvent, out: ModelEvent[]): void {
    this.#start(answer, out);
    this.#readEnding(answer, out);
    this.#finish(out);
  }

  #readBlockStart({ index, content_block }: MessagesEvent, out: ModelEvent[]): void {
    if (!content_block) return;
    if (this.#responseId === undefined) this.#start({}, out);
    const place = index ?? 0;
    this.#closeSlots(({ isStopped }, at) => isStopped || at === place, "completed", out);
    this.#slots.set(place, { block: this.#open(content_block, out), isStopped: false });
  }

  #open(block: ReadBlock, out: ModelEvent[]): OpenBlock {
    if (block.type === "text") {
      return new OpenText(block, (events) => this.#openMessage(events), out);
    }
    this.#closeMessage("completed", out);
    const hosted = this.#hosted.open(block, () => this.#nextPlace(), out);
    if (hosted) return hosted;
    switch (block.type) {
      case "thinking":
      case "redacted_thinking":
        return new OpenThought(block, this.#nextIndex++, out);
      case "tool_use":
        return this.#openCall(block, out);
      default:
        return this.#openForeign(block, out);
    }
  }

  #nextPlace(): BlockPlace {
    const index = this.#nextIndex++;
    return { index, id: `${this.#responseId || "block"}_${index}` };
  }

  #openForeign(block: ReadBlock, out: ModelEvent[]): OpenBlock {
    return new OpenForeign(block, this.#nextPlace(), out);
  }

  #keep(block: ReadBlock, out: ModelEvent[]): void {
    this.#openForeign(block, out).close("completed", out);
  }

  #openMessage(out: ModelEvent[]): OpenMessage {
    this.#message ??= new OpenMessage(this.#nextIndex++, out);
    return this.#message;
  }

  /** Starts a call. Results are matched by id, so a missing or repeated id is replaced. */
  #openCall(block: ReadBlock, out: ModelEvent[]): OpenBlock {
    const call = readShape(block, READ_CALL);
    const id = call.id ?? "";
    const isFree = id !== "" && !this.#callIds.has(id);
    const callId = isFree ? id : `${id || `call_${this.#responseId}`}_${this.#callIds.size}`;
    this.#callIds.add(callId);
    const fields = fieldsOfCall(block);
    if (fields) this.#keep({ type: CALL_FIELDS, id: callId, ...fields }, out);
    return new OpenCall(call, { callId, index: this.#nextIndex++ }, out);
  }

  #readBlockDelta({ index, delta }: MessagesEvent, out: ModelEvent[]): void {
    if (!delta) return;
    const at = index ?? 0;
    if (!this.#slots.has(at)) this.#readBlockStart(startFor(at, delta), out);
    this.#slots.get(at)?.block.read(delta, out);
  }

  #readBlockStop(index: number): void {
    const slot = this.#slots.get(index);
    if (slot) slot.isStopped = true;
  }

  #readMessageDelta({ delta, usage }: MessagesEvent, out: ModelEvent[]): void {
    this.#usage.add(usage);
    if (this.#responseId === undefined) this.#start({}, out);
    this.#readEnding(delta ?? {}, out);
  }

  #readEnding(ending: Ending, out: ModelEvent[]): void {
    const { stop_reason, stop_sequence, stop_details, container } = ending;
    this.#stopReason = stop_reason ?? this.#stopReason;
    this.#stopSequence = stop_sequence ?? this.#stopSequence;
    this.#explanation = stop_details?.explanation ?? this.#explanation;
    if (!container) return;
    this.#closeAll(out);
    this.#keep({ type: CONTAINER, ...container }, out);
  }

  #closeSlots(
    isDue: (slot: Slot, at: number) => boolean,
    status: ItemStatus,
    out: ModelEvent[],
  ): void {
    for (const [at, slot] of this.#slots) {
      if (!isDue(slot, at)) continue;
      slot.block.close(status, out);
      this.#slots.delete(at);
    }
  }

  #closeMessage(status: ItemStatus, out: ModelEvent[]): void {
    this.#message?.close(status, out);
    this.#message = undefined;
  }

  /** Closes all items. If the answer was cut off, so was the last item; those before it are complete. */
  #closeAll(out: ModelEvent[]): void {
    const status = this.#endReason() === "length" ? "incomplete" : "completed";
    this.#closeSlots(() => true, status, out);
    this.#hosted.endAll(out);
    this.#closeMessage(status, out);
  }

  #finish(out: ModelEvent[]): void {
    this.#isEnded = true;
    if (this.#responseId === undefined) this.#start({}, out);
    this.#closeAll(out);
    if (this.#stopReason === "tool_use" && this.#callIds.size === 0) throw toMissingCall();
    if (this.#explanation) this.#refuse(this.#explanation, out);
    const usage = this.#usage.total();
    const stop = toStopDetail(this.#stopReason, this.#stopSequence);
    const end = { reason: this.#endReason(), usage, ...(stop ? { stop } : {}) };
    out.push({ type: "end", ...end, continuation: undefined });
  }

  #refuse(explanation: string, out: ModelEvent[]): void {
    const message = { type: "message", role: "assistant" } as const;
    const index = this.#nextIndex++;
    const item = { ...message, status: "in_progress" as const, content: [] };
    const refusal = { type: "refusal" as const, refusal: explanation };
    out.push(
      { type: "item_start", index, item },
      { type: "refusal_delta", index, part: 0, delta: explanation },
      { type: "item_end", index, item: { ...message, status: "completed", content: [refusal] } },
    );
  }

  #endReason(): EndReason {
    const reason = END_REASONS[this.#stopReason ?? ""];
    if (reason) return reason;
    return this.#callIds.size > 0 ? "tool_calls" : "stop";
  }
}

/** Any other reason is a plain end, or a request for the results of the calls. */
const END_REASONS: Readonly<Record<string, EndReason | undefined>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
  pause_turn: "pause",
  // The server shortened the context and expects another request.
  compaction: "pause",
};

function readDelta(event: JsonObject): MessagesEvent {
  return isPlainDelta(event) ? event : readShape(event, DELTA_EVENT);
}

/** Recognizes the most common event without reading its whole shape, which takes four times as long. */
function isPlainDelta(event: JsonObject): event is JsonObject & MessagesEvent {
  const { index, delta } = event;
  if (typeof index !== "number" || !isJsonObject(delta)) return false;
  const { text, thinking, signature, partial_json, citation } = delta;
  if (typeof delta["type"] !== "string" || typeof text !== "string") return false;
  return !(thinking || signature || partial_json || citation);
}

const BLOCK_OF_DELTA: Readonly<Record<string, string | undefined>> = {
  text_delta: "text",
  thinking_delta: "thinking",
};

/** A start event for a block whose server left it out. */
function startFor(index: number, { type }: MessagesBlockDelta): MessagesEvent {
  const kind = BLOCK_OF_DELTA[type ?? ""];
  return kind ? { index, content_block: { type: kind } } : { index };
}
