/** Items while they are read from an answer: text and reasoning that arrive in pieces, and calls. */

import type { Annotation, OutputText } from "../../protocol/content.ts";
import type { ItemStatus } from "../../protocol/item-fields.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { isOfText, toAnnotations } from "./citations.ts";
import type { ReadCitation } from "./schema.ts";

/** `plan` is what the model writes before its calls. It is written for the reader, so it becomes a summary. */
export type WordKind = "text" | "thought" | "plan";

interface Part {
  readonly index: number;
  readonly pieces: string[];
  readonly annotations: Annotation[];
}

/** A message or reasoning, with one part for each block of the server. */
export class OpenWords {
  readonly kind: WordKind;
  readonly #index: number;
  /** The parts by the server's number for the block. */
  readonly #parts = new Map<number, Part>();

  constructor(kind: WordKind, index: number, out: ModelEvent[]) {
    this.kind = kind;
    this.#index = index;
    out.push({ type: "item_start", index, item: this.#item("in_progress") });
  }

  write(block: number, delta: string, out: ModelEvent[]): void {
    const part = this.#part(block);
    part.pieces.push(delta);
    const place = { index: this.#index, part: part.index };
    if (this.kind === "text") {
      out.push({ type: "text_delta", ...place, delta });
    } else {
      const kind = this.kind === "plan" ? "summary" : "text";
      out.push({ type: "reasoning_delta", ...place, kind, delta });
    }
  }

  /** Adds a citation. If it does not name its block, it belongs to the last one. */
  cite(citation: ReadCitation, out: ModelEvent[]): void {
    if (this.kind !== "text" || !isOfText(citation)) return;
    const part = this.#parts.get(citation.content_index ?? -1) ?? [...this.#parts.values()].at(-1);
    if (!part) return;
    for (const annotation of toAnnotations(citation, part.pieces.join(""))) {
      part.annotations.push(annotation);
      out.push({ type: "annotation", index: this.#index, part: part.index, annotation });
    }
  }

  close(status: ItemStatus, out: ModelEvent[]): void {
    out.push({ type: "item_end", index: this.#index, item: this.#item(status) });
  }

  #part(block: number): Part {
    const known = this.#parts.get(block);
    if (known) return known;
    const part: Part = { index: this.#parts.size, pieces: [], annotations: [] };
    this.#parts.set(block, part);
    return part;
  }

  #item(status: ItemStatus): Item {
    const parts = [...this.#parts.values()];
    if (this.kind === "text") {
      const content = parts.map(
        ({ pieces, annotations }): OutputText => ({
          type: "output_text",
          text: pieces.join(""),
          annotations: [...annotations],
        }),
      );
      return { type: "message", role: "assistant", status, content };
    }
    const texts = parts.map(({ pieces }) => pieces.join(""));
    if (this.kind === "plan") {
      const summary = texts.map((text) => ({ type: "summary_text" as const, text }));
      return { type: "reasoning", summary };
    }
    const content = texts.map((text) => ({ type: "reasoning_text" as const, text }));
    return { type: "reasoning", summary: [], content };
  }
}

/** A call whose arguments are joined from pieces. */
export class OpenCall {
  readonly #index: number;
  readonly #call: Omit<FunctionCall, "arguments">;
  readonly #pieces: string[] = [];

  constructor(call: { callId: string; name: string }, index: number, out: ModelEvent[]) {
    this.#index = index;
    this.#call = { type: "function_call", call_id: call.callId, name: call.name };
    const item: FunctionCall = { ...this.#call, arguments: "", status: "in_progress" };
    out.push({ type: "item_start", index, item });
  }

  /** Adds a piece of the arguments. The server may send `null` for a tool without parameters. */
  write(delta: string, out: ModelEvent[]): void {
    if (delta === "" || (this.#pieces.length === 0 && delta === "null")) return;
    this.#pieces.push(delta);
    out.push({ type: "arguments_delta", index: this.#index, delta });
  }

  close(status: ItemStatus, out: ModelEvent[]): void {
    if (this.#pieces.length === 0) this.write("{}", out);
    const item: FunctionCall = { ...this.#call, arguments: this.#pieces.join(""), status };
    out.push({ type: "item_end", index: this.#index, item });
  }
}
