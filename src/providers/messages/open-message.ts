/** Adjacent text blocks as one message: one part for each block, with its citations. */

import type { JsonObject } from "../../base/json.ts";
import type { Annotation, OutputText } from "../../protocol/content.ts";
import type { ItemStatus } from "../../protocol/item-fields.ts";
import type { Message } from "../../protocol/items.ts";
import { toAnnotation } from "../../protocol/messages-blocks.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { readShape } from "../shape.ts";
import type { OpenBlock } from "./open-blocks.ts";
import { type MessagesBlockDelta, READ_TEXT, type ReadBlock } from "./schema.ts";

interface Part {
  readonly pieces: string[];
  readonly annotations: Annotation[];
}

export class OpenMessage {
  readonly index: number;
  readonly parts: Part[] = [];

  constructor(index: number, out: ModelEvent[]) {
    this.index = index;
    out.push({ type: "item_start", index, item: this.#item("in_progress") });
  }

  close(status: ItemStatus, out: ModelEvent[]): void {
    out.push({ type: "item_end", index: this.index, item: this.#item(status) });
  }

  #item(status: ItemStatus): Message {
    const content = this.parts.map(
      ({ pieces, annotations }): OutputText => ({
        type: "output_text",
        text: pieces.join(""),
        annotations,
      }),
    );
    return { type: "message", role: "assistant", status, content };
  }
}

/**
 * A text block. It gets its place in the message with its first text, because the API refuses empty texts
 * in the next request.
 */
export class OpenText implements OpenBlock {
  readonly #openMessage: (out: ModelEvent[]) => OpenMessage;
  readonly #citations: JsonObject[] = [];
  #place: { readonly index: number; readonly part: number } | undefined;
  #part: Part = { pieces: [], annotations: [] };

  constructor(
    block: ReadBlock,
    openMessage: (out: ModelEvent[]) => OpenMessage,
    out: ModelEvent[],
  ) {
    this.#openMessage = openMessage;
    const { text, citations } = readShape(block, READ_TEXT);
    if (text) this.#write(text, out);
    if (citations) this.#citations.push(...citations);
  }

  read({ text, citation }: MessagesBlockDelta, out: ModelEvent[]): void {
    if (text) this.#write(text, out);
    if (citation) this.#citations.push(citation);
  }

  /** A citation covers the whole block, so its range is known when the block ends. */
  close(_: ItemStatus, out: ModelEvent[]): void {
    if (!this.#place) return;
    const end = this.#part.pieces.join("").length;
    for (const citation of this.#citations) {
      const annotation = toAnnotation(citation, end);
      this.#part.annotations.push(annotation);
      out.push({ type: "annotation", ...this.#place, annotation });
    }
  }

  #write(delta: string, out: ModelEvent[]): void {
    this.#place ??= this.#enter(out);
    this.#part.pieces.push(delta);
    out.push({ type: "text_delta", ...this.#place, delta });
  }

  #enter(out: ModelEvent[]): { index: number; part: number } {
    const { index, parts } = this.#openMessage(out);
    return { index, part: parts.push(this.#part) - 1 };
  }
}
