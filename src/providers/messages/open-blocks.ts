/**
 * Blocks of an answer that become items of their own: thinking, calls, and blocks that only the vendor
 * understands, which are kept unchanged.
 */

import { type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ItemStatus } from "../../protocol/item-fields.ts";
import type { FunctionCall, Item, Reasoning } from "../../protocol/items.ts";
import { FOREIGN, SEALER } from "../../protocol/messages-blocks.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { seal } from "../../protocol/sealed-reasoning.ts";
import { toNamelessCall } from "../broken-answer.ts";
import { readShape, type Shaped } from "../shape.ts";
import { type MessagesBlockDelta, type READ_CALL, READ_THOUGHT, type ReadBlock } from "./schema.ts";

/** A block while it is read, and the item or the part of one that it becomes. */
export interface OpenBlock {
  read(delta: MessagesBlockDelta, out: ModelEvent[]): void;
  /** Called once; the block is not read after that. */
  close(status: ItemStatus, out: ModelEvent[]): void;
}

/**
 * A block of thinking. The block, with its signature, is sealed into the item: the API wants it back
 * unchanged, and verifies it.
 */
export class OpenThought implements OpenBlock {
  readonly #block: ReadBlock;
  readonly #index: number;
  readonly #pieces: string[] = [];
  #signature = "";

  constructor(block: ReadBlock, index: number, out: ModelEvent[]) {
    this.#block = block;
    this.#index = index;
    out.push({ type: "item_start", index, item: { type: "reasoning", summary: [], content: [] } });
    this.read(readShape(block, READ_THOUGHT), out);
  }

  read(
    { thinking, signature }: Pick<MessagesBlockDelta, "thinking" | "signature">,
    out: ModelEvent[],
  ): void {
    if (signature) this.#signature += signature;
    if (!thinking) return;
    this.#pieces.push(thinking);
    const index = this.#index;
    out.push({ type: "reasoning_delta", index, part: 0, kind: "text", delta: thinking });
  }

  close(_: unknown, out: ModelEvent[]): void {
    const text = this.#pieces.join("");
    const sealed = this.#sealed(text);
    const item: Reasoning = {
      type: "reasoning",
      summary: [],
      content: text === "" ? [] : [{ type: "reasoning_text", text }],
      ...(sealed ? { encrypted_content: seal(SEALER, sealed) } : {}),
    };
    out.push({ type: "item_end", index: this.#index, item });
  }

  /** The sealed block. Thinking that was cut before its signature is of no use to the server. */
  #sealed(thinking: string): JsonObject | undefined {
    if (this.#block.type === "redacted_thinking") return this.#block;
    return this.#signature ? { ...this.#block, thinking, signature: this.#signature } : undefined;
  }
}

/** A call whose input is joined from fragments of JSON. */
export class OpenCall implements OpenBlock {
  readonly #index: number;
  readonly #call: Omit<FunctionCall, "arguments">;
  readonly #input: unknown;
  readonly #pieces: string[] = [];

  constructor(
    { name, input }: Shaped<typeof READ_CALL>,
    place: { callId: string; index: number },
    out: ModelEvent[],
  ) {
    if (!name) throw toNamelessCall();
    this.#index = place.index;
    this.#call = { type: "function_call", call_id: place.callId, name };
    this.#input = input;
    const item: FunctionCall = { ...this.#call, arguments: "", status: "in_progress" };
    out.push({ type: "item_start", index: place.index, item });
  }

  read({ partial_json: delta }: Pick<MessagesBlockDelta, "partial_json">, out: ModelEvent[]): void {
    if (!delta) return;
    this.#pieces.push(delta);
    out.push({ type: "arguments_delta", index: this.#index, delta });
  }

  /** Closes the call. An input without fragments was in the start event: complete, or empty. */
  close(status: ItemStatus, out: ModelEvent[]): void {
    if (this.#pieces.length === 0) {
      this.read({ partial_json: JSON.stringify(this.#input ?? {}) }, out);
    }
    const item: FunctionCall = { ...this.#call, arguments: this.#pieces.join(""), status };
    out.push({ type: "item_end", index: this.#index, item });
  }
}

/**
 * A block that is kept unchanged: of a tool that the vendor runs, its result, a compaction, or of an
 * unknown kind.
 */
export class OpenForeign implements OpenBlock {
  readonly #place: { readonly index: number; readonly id: string };
  #block: JsonObject;
  readonly #fragments: string[] = [];

  constructor(block: ReadBlock, place: { index: number; id: string }, out: ModelEvent[]) {
    this.#block = block;
    const id = typeof block["id"] === "string" ? block["id"] : place.id;
    this.#place = { index: place.index, id };
    out.push({ type: "item_start", index: place.index, item: this.#item() });
  }

  read({ type: _, partial_json, ...fields }: MessagesBlockDelta): void {
    if (partial_json) this.#fragments.push(partial_json);
    this.#block = Object.entries(fields).reduce(grow, this.#block);
  }

  close(_: unknown, out: ModelEvent[]): void {
    const input = tryParseJson(this.#fragments.join(""));
    if (input !== undefined) this.#block = { ...this.#block, input };
    out.push({ type: "item_end", index: this.#place.index, item: this.#item() });
  }

  #item(): Item {
    const type = `${FOREIGN}${this.#block["type"] ?? "block"}`;
    return { type, id: this.#place.id, block: this.#block } as unknown as Item;
  }
}

/** Adds a delta. A text grows; any other field is replaced. */
function grow(block: JsonObject, [name, value]: [string, Json | undefined]): JsonObject {
  const before = block[name];
  const isText = typeof before === "string" && typeof value === "string";
  return { ...block, [name]: isText ? before + value : (value ?? before) };
}
