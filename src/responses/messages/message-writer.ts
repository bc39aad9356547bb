/**
 * Writes the events of a response as the frames of a Messages stream.
 *
 * Order: nothing before there is output, so that a server may still answer with a status of its own; then
 * `message_start`, blocks strictly one after the other and numbered from 0 without gaps, `message_delta`,
 * `message_stop`. Clients lose what comes in any other order, so a block that begins while another is open waits for
 * it. A stream that breaks ends with an `error` and leaves its block open: of one that has ended, clients keep the text,
 * run the call, and do not ask again.
 */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { quote } from "../../base/quote.ts";
import type {
  EmittedAnnotation,
  EmittedEvent,
  EmittedFunctionCall,
  EmittedItem,
  EmittedReasoning,
  EmittedResponse,
} from "../../protocol/emitted.ts";
import {
  type AnswerBlock,
  createWholeBlocks,
  findContainer,
  toCallFields,
  toCitation,
  toDeltas,
} from "./answer-blocks.ts";
import {
  CANCELLED,
  createIds,
  toApplied,
  toEnd,
  toOpenMessage,
  toOwnField,
} from "./message-object.ts";
import { toEstimatedUsage, toMessageUsage } from "./message-usage.ts";
import { CUT_CALL, toCode } from "./messages-failure.ts";
import type { MessagesAnswerOptions } from "./messages-wishes.ts";
import {
  THOUGHT_BREAK,
  toBlankSignature,
  toHiddenThought,
  toSignature,
  toThoughtBlock,
} from "./thought-signature.ts";

export interface MessageWriterOptions {
  readonly answer: MessagesAnswerOptions;
  /** Our estimate of the request's tokens; called once. */
  readonly estimate: () => number;
  /** An error in the API's form. */
  readonly toError: (failure: Failure) => object;
}

export interface MessageWriter {
  /** The frames for one event; empty for most beginnings. */
  write(event: EmittedEvent): string;
  /** True if the stream ended before the answer, whose rest is of no use. */
  readonly isAbandoned: boolean;
}

export function createMessageWriter(options: MessageWriterOptions): MessageWriter {
  return new BlockWriter(options);
}

export function toFrame(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const DELTA_HEAD = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';

/** A block of the answer, open or waiting for its turn. */
interface Block {
  readonly start: AnswerBlock;
  /** JSON of deltas that wait for those before it. */
  readonly waiting: string[];
  isEnded: boolean;
  /** True if its item ended incomplete: it stays open until the answer continues or ends. */
  isCut: boolean;
  /** Length of the text that was written. */
  told: number;
}

/** The text of the last event, which the next event nearly always continues. */
interface LastText {
  readonly item: number;
  readonly part: number;
  readonly block: Block;
}

class BlockWriter implements MessageWriter {
  isAbandoned = false;
  readonly #options: MessageWriterOptions;
  readonly #idOf: (callId: string) => string;
  #response: EmittedResponse | undefined;
  #out = "";
  #isOpen = false;
  #isOver = false;
  /** The index of the first block in `#queue`, which is the open one. */
  #index = 0;
  readonly #queue: Block[] = [];
  /** By item and part: `3:0`; calls by their item alone. */
  readonly #blocks = new Map<string, Block>();
  #last: LastText | undefined;
  /** The last piece of each thought, by item. */
  readonly #pieces = new Map<number, string>();
  readonly #callFields = new Map<string, JsonObject>();
  readonly #toWhole: (item: EmittedItem) => AnswerBlock[];
  /** Thoughts that are only written if a call follows them, also after a text: `answer-blocks.ts` says why. */
  #held: AnswerBlock[] = [];

  constructor(options: MessageWriterOptions) {
    this.#options = options;
    this.#idOf = createIds(options.answer.takenIds);
    this.#toWhole = createWholeBlocks(options.answer);
  }

  write(event: EmittedEvent): string {
    this.#out = "";
    if (!this.#isOver) this.#read(event);
    return this.#out;
  }

  #read(event: EmittedEvent): void {
    switch (event.type) {
      case "response.output_text.delta":
        return this.#say(event.output_index, event.content_index, event.delta);
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        this.#response = event.response;
        return;
      case "response.output_item.added":
        return this.#passCut() ? this.#beginItem(event.output_index, event.item) : undefined;
      case "response.function_call_arguments.delta":
        return this.#argue(event.output_index, event.delta);
      case "response.output_item.done":
        return this.#endItem(event.output_index, event.item);
      case "response.completed":
      case "response.incomplete":
        return this.#end(event.response);
      case "response.failed":
        return this.#fail(event.response);
      case "error":
        return this.#break(new Failure(toCode(event.code), event.error.message));
      default:
        return this.#readPart(event);
    }
  }

  /** `done` has the text that no delta had: not every vendor sends its answer in pieces. */
  #readPart(event: EmittedEvent): void {
    switch (event.type) {
      case "response.output_text.done":
        return this.#sayRest(event.output_index, event.content_index, event.text);
      case "response.refusal.delta":
        return this.#say(event.output_index, event.content_index, event.delta);
      case "response.refusal.done":
        return this.#sayRest(event.output_index, event.content_index, event.refusal);
      case "response.content_part.done": {
        const { part } = event;
        if (part.type === "output_text") this.#cite(event.output_index, event.content_index, part);
        return;
      }
      case "response.reasoning_text.delta":
        return this.#think(event.output_index, `c${event.content_index}`, event.delta);
      case "response.reasoning_summary_text.delta":
        return this.#think(event.output_index, `s${event.summary_index}`, event.delta);
      default:
      // The other events are about items that are written when they have ended.
    }
  }

  #say(item: number, part: number, delta: string): void {
    if (delta === "") return;
    const last = this.#last;
    const block =
      last && last.item === item && last.part === part ? last.block : this.#textOf(item, part);
    block.told += delta.length;
    if (block === this.#queue[0])
      this.#out += `${DELTA_HEAD}${this.#index},"delta":{"type":"text_delta","text":${quote(delta)}}}\n\n`;
    else block.waiting.push(`{"type":"text_delta","text":${quote(delta)}}`);
  }

  #textOf(item: number, part: number): Block {
    const key = `${item}:${part}`;
    // The last part ends with its item, which says if it was cut.
    this.#endBlock(`${item}:${part - 1}`, {});
    const block = this.#blocks.get(key) ?? this.#begin({ type: "text", text: "" }, key);
    this.#last = { item, part, block };
    return block;
  }

  #sayRest(item: number, part: number, whole: string): void {
    const told = this.#blocks.get(`${item}:${part}`)?.told ?? 0;
    this.#say(item, part, whole.slice(told));
  }

  #cite(
    item: number,
    part: number,
    said: { annotations: readonly EmittedAnnotation[]; text: string },
  ): void {
    const block = this.#blocks.get(`${item}:${part}`);
    for (const annotation of block ? said.annotations : []) {
      const citation = toCitation(annotation, said.text);
      if (citation && block) this.#add(block, { type: "citations_delta", citation });
    }
  }

  #think(item: number, piece: string, delta: string): void {
    const { thinking } = this.#options.answer;
    if (delta === "" || thinking !== "shown") return;
    const block = this.#thoughtOf(item);
    const before = this.#pieces.get(item) ?? piece;
    this.#pieces.set(item, piece);
    const text = before === piece ? delta : THOUGHT_BREAK + delta;
    block.told += text.length;
    this.#add(block, { type: "thinking_delta", thinking: text });
  }

  #thoughtOf(item: number): Block {
    return (
      this.#blocks.get(`${item}`) ??
      this.#begin({ type: "thinking", thinking: "", signature: "" }, `${item}`)
    );
  }

  #beginItem(place: number, item: EmittedItem): void {
    if (item.type !== "function_call") return;
    for (const thought of this.#held.splice(0)) this.#tell(thought);
    const { call_id } = item;
    const name = this.#options.answer.clientNames.get(item.name) ?? item.name;
    const start = { type: "tool_use", id: this.#idOf(call_id), name, input: {} };
    this.#begin({ ...start, ...this.#callFields.get(call_id) }, `${place}`);
  }

  #argue(place: number, delta: string): void {
    const block = this.#blocks.get(`${place}`);
    if (!block || delta === "") return;
    block.told += delta.length;
    this.#add(block, { type: "input_json_delta", partial_json: delta });
  }

  #endItem(place: number, item: EmittedItem): void {
    switch (item.type) {
      case "message":
        for (const part of item.content.keys()) this.#endBlock(`${place}:${part}`, item);
        return;
      case "reasoning":
        return this.#endThought(place, item);
      case "function_call":
        return this.#endCall(place, item);
      default:
        for (const [callId, fields] of toCallFields(item) ?? [])
          this.#callFields.set(callId, fields);
        for (const block of this.#toWhole(item)) this.#tell(block);
    }
  }

  /** Clients read a call's input only from deltas, so there is at least one. */
  #endCall(place: number, item: EmittedFunctionCall): void {
    const whole = item.arguments === "" ? "{}" : item.arguments;
    this.#argue(place, whole.slice(this.#blocks.get(`${place}`)?.told));
    this.#endBlock(`${place}`, item);
  }

  #endBlock(key: string, { status }: { readonly status?: string | undefined }): void {
    const block = this.#blocks.get(key);
    if (!block || block.isEnded) return;
    if (status === "incomplete") block.isCut = true;
    else this.#close(block);
  }

  #endThought(place: number, item: EmittedReasoning): void {
    const { thinking } = this.#options.answer;
    if (thinking === "hidden") {
      const hidden = toHiddenThought(item);
      if (hidden) this.#held.push(hidden as unknown as AnswerBlock);
      return;
    }
    const whole = toThoughtBlock(item);
    const begun = this.#blocks.get(`${place}`);
    if (!begun && !whole) return;
    if (!begun && whole?.type === "redacted_thinking")
      return this.#tell(whole as unknown as AnswerBlock);
    const block = begun ?? this.#thoughtOf(place);
    const rest =
      whole?.type === "thinking" && thinking === "shown" ? whole.thinking.slice(block.told) : "";
    if (rest !== "") this.#add(block, { type: "thinking_delta", thinking: rest });
    const signature = thinking === "omitted" ? toBlankSignature(item) : toSignature(item);
    this.#add(block, { type: "signature_delta", signature });
    this.#endBlock(`${place}`, item);
  }

  /** Writes a block that is complete. */
  #tell(whole: AnswerBlock): void {
    const { start, deltas } = toDeltas(whole);
    const block = this.#begin(start);
    for (const delta of deltas) this.#add(block, delta);
    this.#close(block);
  }

  #begin(start: AnswerBlock, key?: string): Block {
    const block: Block = { start, waiting: [], isEnded: false, isCut: false, told: 0 };
    if (key !== undefined) this.#blocks.set(key, block);
    this.#queue.push(block);
    if (this.#queue.length === 1) this.#open(block);
    return block;
  }

  /** A call that was cut would be run as far as it came: if the answer continues after it, the client asks again. */
  #passCut(): boolean {
    const cut = this.#queue.filter(({ isCut }) => isCut);
    this.isAbandoned = cut.some(({ start }) => start.type === "tool_use");
    if (this.isAbandoned) this.#break(new Failure("provider_overloaded", CUT_CALL));
    else for (const block of cut) this.#close(block);
    return !this.isAbandoned;
  }

  #open({ start, waiting }: Block): void {
    this.#openMessage();
    this.#out += toFrame({
      type: "content_block_start",
      index: this.#index,
      content_block: start,
    } as { type: string });
    for (const delta of waiting.splice(0))
      this.#out += `${DELTA_HEAD}${this.#index},"delta":${delta}}\n\n`;
  }

  #add(block: Block, delta: object): void {
    const json = JSON.stringify(delta);
    if (block === this.#queue[0]) this.#out += `${DELTA_HEAD}${this.#index},"delta":${json}}\n\n`;
    else block.waiting.push(json);
  }

  /** Also closes the blocks after it that have ended meanwhile. */
  #close(block: Block): void {
    block.isEnded = true;
    while (this.#queue[0]?.isEnded) {
      this.#queue.shift();
      this.#out += `event: content_block_stop\ndata: {"type":"content_block_stop","index":${this.#index}}\n\n`;
      this.#index++;
      if (this.#queue[0]) this.#open(this.#queue[0]);
    }
    if (this.#last?.block === block) this.#last = undefined;
  }

  #openMessage(): void {
    if (this.#isOpen) return;
    if (!this.#response)
      throw new Failure("internal", "A response's events begin with the response.");
    this.#isOpen = true;
    const { answer, estimate } = this.#options;
    const message = toOpenMessage(this.#response, answer, toEstimatedUsage(estimate()));
    this.#out += toFrame({ type: "message_start", message } as { type: string });
  }

  #end(response: EmittedResponse): void {
    this.#response = response;
    if (response.status === "cancelled") return this.#break(new Failure("cancelled", CANCELLED));
    if (response.status === "completed" && !this.#passCut()) return;
    this.#openMessage();
    while (this.#queue[0]) this.#close(this.#queue[0]);
    this.#isOver = true;
    const { answer, estimate } = this.#options;
    const { output, usage } = response;
    const container = findContainer(output);
    const own = toOwnField(response, answer);
    const end = {
      type: "message_delta",
      delta: { ...toEnd(response, answer), ...(container ? { container } : {}) },
      usage: toMessageUsage(usage, output, estimate),
      context_management: toApplied(answer),
      ...(own ? { offshoot: own } : {}),
    };
    this.#out += toFrame(end) + toFrame({ type: "message_stop" });
  }

  #fail({ error }: EmittedResponse): void {
    this.#break(new Failure(toCode(error?.code ?? null), error?.message ?? "The response failed."));
  }

  /** Once: an `error` event comes before the `response.failed` that says the same. */
  #break(failure: Failure): void {
    this.#isOver = true;
    this.#out += toFrame(this.#options.toError(failure) as { type: string });
  }
}
