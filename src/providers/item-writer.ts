/**
 * Writes the items of an answer that comes as pieces of reasoning and text, and as whole calls. An item
 * ends where another kind begins; a call ends where it started. Pushes events in the order of
 * `protocol/model-events.ts`; the caller has pushed `start`.
 */

import type { Logprob } from "../protocol/content.ts";
import type { FunctionCall, Item } from "../protocol/items.ts";
import type { EndReason, ModelEvent } from "../protocol/model-events.ts";
import type { Usage } from "../protocol/usage.ts";

export type PieceKind = "reasoning" | "text";

interface OpenItem {
  readonly kind: PieceKind;
  readonly index: number;
  readonly pieces: string[];
  logprobs: Logprob[] | undefined;
}

export class ItemWriter {
  #nextIndex = 0;
  #open: OpenItem | undefined;
  #hasCalls = false;

  /** True if there was any text, reasoning or call. */
  get hasOutput(): boolean {
    return this.#nextIndex > 0;
  }

  write(kind: PieceKind, delta: string, out: ModelEvent[]): void {
    const open = this.#open?.kind === kind ? this.#open : this.#openItem(kind, out);
    open.pieces.push(delta);
    const { index } = open;
    if (kind === "text") out.push({ type: "text_delta", index, part: 0, delta });
    else out.push({ type: "reasoning_delta", index, part: 0, kind: "text", delta });
  }

  /** Writes text for which the server also sent probabilities. */
  writeLikely(delta: string, logprobs: readonly Logprob[], out: ModelEvent[]): void {
    const open = this.#open?.kind === "text" ? this.#open : this.#openItem("text", out);
    open.pieces.push(delta);
    open.logprobs = [...(open.logprobs ?? []), ...logprobs];
    out.push({ type: "text_delta", index: open.index, part: 0, delta, logprobs });
  }

  addCall(call: Pick<FunctionCall, "call_id" | "name" | "arguments">, out: ModelEvent[]): void {
    this.#closeItem("completed", out);
    this.#hasCalls = true;
    const index = this.#nextIndex++;
    const { call_id, name, arguments: delta } = call;
    const item = { type: "function_call", call_id, name } as const;
    out.push(
      { type: "item_start", index, item: { ...item, arguments: "", status: "in_progress" } },
      { type: "arguments_delta", index, delta },
      { type: "item_end", index, item: { ...item, arguments: delta, status: "completed" } },
    );
  }

  /** Ends the answer. `ending` is `length` if the token limit ended it. */
  finish(ending: "whole" | "length", usage: Usage, out: ModelEvent[]): void {
    const isCut = ending === "length";
    this.#closeItem(isCut ? "incomplete" : "completed", out);
    const reason: EndReason = isCut ? "length" : this.#hasCalls ? "tool_calls" : "stop";
    out.push({ type: "end", reason, usage, continuation: undefined });
  }

  #openItem(kind: PieceKind, out: ModelEvent[]): OpenItem {
    this.#closeItem("completed", out);
    const open: OpenItem = { kind, index: this.#nextIndex++, pieces: [], logprobs: undefined };
    this.#open = open;
    out.push({ type: "item_start", index: open.index, item: toItem(open, "in_progress") });
    return open;
  }

  #closeItem(status: "completed" | "incomplete", out: ModelEvent[]): void {
    if (!this.#open) return;
    out.push({ type: "item_end", index: this.#open.index, item: toItem(this.#open, status) });
    this.#open = undefined;
  }
}

function toItem(
  { kind, pieces, logprobs }: OpenItem,
  status: "in_progress" | "completed" | "incomplete",
): Item {
  const text = pieces.join("");
  if (kind === "reasoning") {
    const content = text === "" ? [] : [{ type: "reasoning_text" as const, text }];
    return { type: "reasoning", summary: [], content };
  }
  const likely = logprobs && { logprobs };
  const part = { type: "output_text" as const, text, annotations: [], ...likely };
  return { type: "message", role: "assistant", status, content: text === "" ? [] : [part] };
}
