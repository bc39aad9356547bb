/**
 * Decodes events of `ConverseStream`, or the one answer of `Converse`, to model events.
 *
 * A block's end comes before the reason why the model stopped, and only that reason says whether the last
 * block is complete. So an item whose block has stopped is closed by the next block or by the reason. Usage
 * comes last, but some servers send it first or not at all.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { EndReason, ModelEvent, StopDetail } from "../../protocol/model-events.ts";
import { addUsage, NO_USAGE, toUsage, type Usage } from "../../protocol/usage.ts";
import { toMissingCall, toNamelessCall, toUnreadable } from "../broken-answer.ts";
import type { ModelRequest } from "../provider.ts";
import { readShape } from "../shape.ts";
import { toStopDetail } from "../stop-detail.ts";
import { runKindOf } from "../vendors/native-tools.ts";
import type { Decoder } from "../wire.ts";
import {
  type Block,
  type BlockHead,
  type BlockStatus,
  createBlock,
  toAnnotation,
  toItem,
  toOwnItem,
  toSearchItem,
  toStreamEvents,
} from "./blocks.ts";
import { JSON_TOOL, usesJsonTool } from "./encode.ts";
import { type ModelId, parseModelId, takesUnsigned } from "./model-id.ts";
import {
  ANSWER,
  BLOCK_DELTA,
  BLOCK_START,
  BLOCK_STOP,
  type BlockStart,
  type ConverseAnswer,
  type ConverseBlockDelta,
  type ConverseCall,
  type ConverseCitation,
  type ConverseReasoningDelta,
  type ConverseUsage,
  type Delta,
  MESSAGE_STOP,
  METADATA,
  type MessageStop,
} from "./schema.ts";
import { toStreamFailure } from "./stream-failure.ts";

/** The `type` of a call that the vendor runs itself. Other calls have another type, or none. */
const OWN_USE = "server_tool_use";

type Asked = Pick<ModelRequest, "model" | "format"> & Partial<Pick<ModelRequest, "tools">>;

export function createDecoder(request: Asked): Decoder {
  return new ConverseDecoder(request);
}

class ConverseDecoder implements Decoder {
  readonly #model: ModelId;
  /** True if the answer is the input of `JSON_TOOL`. Text before it then becomes reasoning. */
  readonly #isJsonTool: boolean;
  /** True if searches are shown in the words of the Responses API. */
  readonly #asksSearch: boolean;
  /** Number of calls that the vendor made itself, by the name of the tool. */
  readonly #made: Record<string, number> = {};
  readonly #open = new Map<number, Block>();
  readonly #callIds = new Set<string>();
  readonly #searchIds = new Set<string>();
  /** Text by block, until it is known whether it is the answer or an aside. */
  readonly #held = new Map<number, string>();
  #isStarted = false;
  #isEnded = false;
  #nextIndex = 0;
  #hasDocument = false;
  #stopReason: string | undefined;
  #stop: StopDetail | undefined;
  #usage: Usage | undefined;

  constructor(request: Asked) {
    this.#model = parseModelId(request.model);
    this.#isJsonTool = usesJsonTool(request);
    this.#asksSearch = request.tools?.some(({ type }) => runKindOf(type) === "web_search") ?? false;
  }

  read(data: string, out: ModelEvent[]): void {
    const event = tryParseJson(data);
    if (!isJsonObject(event) || this.#isEnded) return;
    if ("output" in event) return this.#readWhole(readShape(event, ANSWER), out);
    for (const name in event) {
      const payload = event[name];
      if (payload !== null && payload !== undefined) this.#readEvent(name, payload, out);
    }
  }

  end(out: ModelEvent[]): void {
    if (this.#isEnded) return;
    if (this.#stopReason !== undefined) return this.#finish(out);
    throw new Failure(
      "provider_broke_protocol",
      "The stream ended before the answer was complete: it gave no stop reason.",
    );
  }

  #readEvent(name: string, payload: unknown, out: ModelEvent[]): void {
    switch (name) {
      case "messageStart":
        return this.#start(out);
      case "contentBlockStart":
        return this.#readStart(readShape(payload, BLOCK_START), out);
      case "contentBlockDelta":
        return this.#readDelta(readShape(payload, BLOCK_DELTA), out);
      case "contentBlockStop":
        return this.#readStop(readShape(payload, BLOCK_STOP).contentBlockIndex ?? 0);
      case "messageStop":
        return this.#readMessageStop(readShape(payload, MESSAGE_STOP), out);
      case "metadata":
        return this.#readMetadata(readShape(payload, METADATA).usage ?? {}, out);
      default:
        if (name === "error" || name.endsWith("Exception")) throw toStreamFailure(name, payload);
    }
  }

  /** Starts the answer. The vendor's stream names neither the answer nor the model. */
  #start(out: ModelEvent[]): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    out.push({ type: "start", response_id: "", model: "" });
  }

  #readStart({ contentBlockIndex, start }: BlockStart, out: ModelEvent[]): void {
    if (!start || this.#stopReason !== undefined) return;
    const number = contentBlockIndex ?? 0;
    const { toolUse, toolResult, image } = start;
    if (toolUse?.type === OWN_USE) this.#openOwnCall(number, toolUse, out);
    else if (toolUse) this.#openCall(number, toolUse, out);
    else if (toolResult) this.#openOwn(number, "toolResult", toolResult, out);
    else if (image) this.#openOwn(number, "image", image, out);
  }

  #readDelta({ contentBlockIndex, delta }: ConverseBlockDelta, out: ModelEvent[]): void {
    if (!delta || this.#stopReason !== undefined) return;
    const number = contentBlockIndex ?? 0;
    if (delta.text) this.#writeText(number, delta.text, out);
    if (delta.reasoningContent) this.#writeReasoning(number, delta.reasoningContent, out);
    if (delta.toolUse?.input) this.#writeInput(number, delta.toolUse.input, out);
    if (delta.citation) this.#cite(number, delta.citation, out);
    if (delta.toolResult || delta.image) this.#writeOwn(number, delta);
  }

  #readStop(number: number): void {
    const block = this.#open.get(number);
    if (block) block.isStopped = true;
  }

  #readMessageStop(stop: MessageStop, out: ModelEvent[]): void {
    const { stopReason: said, additionalModelResponseFields: more } = stop;
    const stopReason = said ?? "";
    this.#start(out);
    if (this.#stopReason !== undefined) return;
    this.#stopReason = stopReason;
    this.#stop = toStopDetail(stopReason, more?.stop_sequence);
    throwIfMalformed(stopReason);
    this.#tellHeld(out);
    const last = [...this.#open.values()].at(-1);
    for (const block of this.#open.values()) {
      const isCut = block === last && this.#endReason() === "length";
      this.#close(block, isCut ? "incomplete" : "completed", out);
    }
    if (stopReason === "tool_use" && !this.#hasCalled()) throw toMissingCall();
    if (this.#usage) this.#finish(out);
  }

  #hasCalled(): boolean {
    return this.#callIds.size > 0 || this.#hasDocument;
  }

  #readMetadata(usage: ConverseUsage, out: ModelEvent[]): void {
    this.#usage = readUsage(usage);
    if (this.#stopReason !== undefined) this.#finish(out);
  }

  #readWhole(answer: ConverseAnswer, out: ModelEvent[]): void {
    const { output, usage } = answer;
    this.#start(out);
    if (usage) this.#usage = readUsage(usage);
    for (const [number, block] of (output?.message?.content ?? []).entries()) {
      const events = toStreamEvents(block, number);
      if (events) for (const [name, payload] of events) this.#readEvent(name, payload, out);
      else this.#tellOwn(block as JsonObject, out);
    }
    this.#readMessageStop(answer, out);
  }

  #writeText(number: number, delta: string, out: ModelEvent[]): void {
    if (this.#isJsonTool && this.#open.get(number)?.kind !== "text") {
      this.#held.set(number, (this.#held.get(number) ?? "") + delta);
    } else this.#write(number, "text", delta, out);
  }

  #write(number: number, kind: "text" | "reasoning", delta: string, out: ModelEvent[]): void {
    const block = this.#blockOf(number, kind, out);
    block.pieces.push(delta);
    const place = { index: block.index, part: 0, delta };
    if (kind === "text") out.push({ type: "text_delta", ...place });
    else out.push({ type: "reasoning_delta", kind: "text", ...place });
  }

  #writeReasoning(number: number, delta: ConverseReasoningDelta, out: ModelEvent[]): void {
    const { text, signature, redactedContent } = delta;
    if (text) this.#write(number, "reasoning", text, out);
    if (!signature && !redactedContent) return;
    const block = this.#blockOf(number, "reasoning", out);
    if (signature) block.signature += signature;
    if (redactedContent) block.bytes.push(Buffer.from(redactedContent, "base64"));
  }

  /** The open block of that number. If it is of another kind, opens a new one. */
  #blockOf(number: number, kind: BlockHead["kind"], out: ModelEvent[]): Block {
    const known = this.#open.get(number);
    return known?.kind === kind ? known : this.#openBlock({ number, kind }, out);
  }

  #writeInput(number: number, delta: string, out: ModelEvent[]): void {
    const block = this.#open.get(number);
    if (!block) {
      throw toNamelessCall();
    }
    block.pieces.push(delta);
    const { index } = block;
    if (block.kind === "call") out.push({ type: "arguments_delta", index, delta });
    else if (block.kind === "text") out.push({ type: "text_delta", index, part: 0, delta });
  }

  #cite(number: number, citation: ConverseCitation, out: ModelEvent[]): void {
    const block = this.#open.get(number);
    if (block?.kind !== "text") return;
    const annotation = toAnnotation(citation);
    block.annotations.push(annotation);
    out.push({ type: "annotation", index: block.index, part: 0, annotation });
  }

  #writeOwn(number: number, { toolResult, image }: Delta): void {
    const block = this.#open.get(number);
    if (block?.kind !== "own") return;
    if (toolResult) block.results.push(...(toolResult as readonly Json[]));
    if (image?.source?.bytes) block.bytes.push(Buffer.from(image.source.bytes, "base64"));
  }

  #openCall(number: number, { toolUseId, name }: ConverseCall, out: ModelEvent[]): void {
    if (!name) {
      throw toNamelessCall();
    }
    const isDocument = this.#isJsonTool && name === JSON_TOOL;
    if (isDocument) this.#hasDocument = true;
    this.#tellHeld(out);
    if (isDocument) this.#openBlock({ number, kind: "text" }, out);
    else this.#openBlock({ number, kind: "call", callId: this.#callId(toolUseId), name }, out);
  }

  #openOwnCall(number: number, call: ConverseCall, out: ModelEvent[]): void {
    const tool = call.name ?? "unknown";
    this.#made[tool] = (this.#made[tool] ?? 0) + 1;
    this.#openOwn(number, "toolUse", call, out);
  }

  #openOwn(number: number, name: string, start: object, out: ModelEvent[]): void {
    this.#openBlock({ number, kind: "own", name, start: start as JsonObject }, out);
  }

  #openBlock(
    known: Pick<BlockHead, "number" | "kind"> & Partial<BlockHead>,
    out: ModelEvent[],
  ): Block {
    this.#start(out);
    for (const other of this.#open.values()) {
      if (other.isStopped || other.number === known.number) this.#close(other, "completed", out);
    }
    const index = this.#nextIndex++;
    const head: BlockHead = {
      index,
      maker: this.#model.maker,
      keepsUnsigned: takesUnsigned(this.#model),
      callId: "",
      name: "",
      start: {},
      ...known,
    };
    const isSearch = this.#isSearch(head);
    const block = createBlock(isSearch ? { ...head, callId: this.#searchId(head) } : head);
    this.#open.set(known.number, block);
    const start = { type: "item_start", index, item: this.#toItem(block, "in_progress") } as const;
    out.push(isSearch ? { ...start, own: true } : start);
    return block;
  }

  #isSearch({ kind, name }: BlockHead): boolean {
    return this.#asksSearch && kind === "own" && name === "toolUse";
  }

  #toItem(block: Block, status: BlockStatus): Item {
    return this.#isSearch(block) ? toSearchItem(block, status) : toItem(block, status);
  }

  #close(block: Block, status: BlockStatus, out: ModelEvent[]): void {
    this.#open.delete(block.number);
    const { index } = block;
    // A call without arguments has no input, but its arguments are an empty object.
    if (block.kind === "call" && block.pieces.length === 0 && status === "completed") {
      block.pieces.push("{}");
      out.push({ type: "arguments_delta", index, delta: "{}" });
    }
    out.push({ type: "item_end", index, item: this.#toItem(block, status) });
  }

  /** Emits held text. An aside becomes reasoning, because it is not the document that was requested. */
  #tellHeld(out: ModelEvent[]): void {
    for (const [number, text] of this.#held) {
      this.#write(number, this.#hasDocument ? "reasoning" : "text", text, out);
      this.#readStop(number);
    }
    this.#held.clear();
  }

  #tellOwn(block: JsonObject, out: ModelEvent[]): void {
    const kind = Object.keys(block).find((name) => block[name] !== null);
    if (kind === undefined) return;
    const item = toOwnItem(kind, block);
    const index = this.#nextIndex++;
    out.push({ type: "item_start", index, item }, { type: "item_end", index, item });
  }

  /** The id of a call. Results are matched by id, so a missing or repeated id is replaced. */
  #callId(id: string | null | undefined): string {
    const wanted = id || "call";
    const callId = id && !this.#callIds.has(id) ? id : `${wanted}_${this.#callIds.size}`;
    this.#callIds.add(callId);
    return callId;
  }

  /** The id of a search. Two items of an answer never share an id: a missing or repeated one is replaced. */
  #searchId({ start, index }: BlockHead): string {
    const { toolUseId } = start as ConverseCall;
    const id = toolUseId && !this.#searchIds.has(toolUseId) ? toolUseId : `search_${index}`;
    this.#searchIds.add(id);
    return id;
  }

  #finish(out: ModelEvent[]): void {
    this.#isEnded = true;
    const usage = addUsage(this.#usage ?? NO_USAGE, toUsage({ nativeCalls: this.#made }));
    const stop = this.#stop ? { stop: this.#stop } : {};
    out.push({ type: "end", reason: this.#endReason(), usage, ...stop, continuation: undefined });
  }

  #endReason(): EndReason {
    const reason = END_REASONS[this.#stopReason ?? ""] ?? "stop";
    return reason === "stop" && this.#callIds.size > 0 ? "tool_calls" : reason;
  }
}

/** Any other reason, known or new, means that the model has finished its answer. */
const END_REASONS: Readonly<Record<string, EndReason>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  guardrail_intervened: "refusal",
  content_filtered: "refusal",
  refusal: "refusal",
};

function throwIfMalformed(stopReason: string): void {
  if (!stopReason.startsWith("malformed_")) return;
  throw toUnreadable(stopReason, undefined);
}

function readUsage(usage: ConverseUsage): Usage {
  const cached = usage.cacheReadInputTokens ?? 0;
  const cacheWrite = usage.cacheWriteInputTokens ?? 0;
  const input = (usage.inputTokens ?? 0) + cached + cacheWrite;
  return toUsage({ input, cached, cacheWrite, output: usage.outputTokens ?? 0 });
}
