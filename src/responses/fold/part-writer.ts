/**
 * Writes the events inside one item: parts that open with their first delta and close in order.
 *
 * Each item of the event writer owns one. A part is closed when the next one opens or the item ends, with the text of
 * the finished item, which is the vendor's last word.
 */

import { asJsonObject } from "../../base/json.ts";
import type { Annotation } from "../../protocol/content.ts";
import type {
  EmittedItem,
  EmittedLogprob,
  EmittedPart,
  Unnumbered,
} from "../../protocol/emitted.ts";
import type { Writing } from "../../protocol/hosted-kinds/hosted-kind.ts";
import { ITEM_FACTS } from "../../protocol/item-facts.ts";
import type { ReasoningDelta, RefusalTextDelta, TextDelta } from "../../protocol/model-events.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { WRITINGS } from "./call-events.ts";
import { toEmittedAnnotation, toEmittedLogprobs } from "./emitted-item.ts";

export interface PartWriter {
  delta(event: TextDelta | RefusalTextDelta | ReasoningDelta): void;
  arguments(delta: string): void;
  annotation(part: number, annotation: Annotation): void;
  /** Closes the open part, with the texts of the finished item. */
  finish(item: EmittedItem): void;
  /** Closes the open part. Returns the item with its text so far, marked as incomplete. */
  cut(item: EmittedItem): EmittedItem;
}

interface Place {
  readonly item: EmittedItem;
  readonly outputIndex: number;
  readonly emit: (event: Unnumbered) => void;
  /** True if this server makes the call. Calls of a vendor are reported by the vendor. */
  readonly isOwn: boolean;
  /** True if the client sees the probabilities of tokens. */
  readonly showsLogprobs: boolean;
}

/** Calls whose arguments every model streams in pieces. */
const MODEL_CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);

const FUNCTION_WRITING = WRITINGS["function_call"] as Writing;

type PartKind = "text" | "refusal" | "summary" | "thought";

interface Part {
  readonly kind: PartKind;
  readonly index: number;
  text: string;
  readonly logprobs: EmittedLogprob[];
  annotations: number;
  isOpen: boolean;
}

export function createPartWriter(place: Place): PartWriter {
  return new ItemParts(place);
}

class ItemParts implements PartWriter {
  readonly #emit: Place["emit"];
  readonly #at: { readonly item_id: string; readonly output_index: number };
  readonly #parts: Part[] = [];
  readonly #writing: Writing;
  readonly #isOwn: boolean;
  readonly #showsLogprobs: boolean;
  #arguments = "";

  constructor({ item, outputIndex, emit, isOwn, showsLogprobs }: Place) {
    this.#emit = emit;
    this.#isOwn = isOwn;
    this.#showsLogprobs = showsLogprobs;
    this.#at = { item_id: idOf(item), output_index: outputIndex };
    this.#writing = WRITINGS[item.type] ?? FUNCTION_WRITING;
  }

  delta(event: TextDelta | RefusalTextDelta | ReasoningDelta): void {
    const part = this.#open(kindOf(event), event.part);
    const { delta } = event;
    part.text += delta;
    if (event.type === "text_delta") return this.#emitTextDelta(part, event);
    const at = this.#at;
    const content = { ...at, content_index: part.index };
    if (part.kind === "refusal") {
      this.#emit({ type: "response.refusal.delta", ...content, delta });
    } else if (part.kind === "thought") {
      this.#emit({ type: "response.reasoning_text.delta", ...content, delta });
    } else {
      const summary = { ...at, summary_index: part.index };
      this.#emit({ type: "response.reasoning_summary_text.delta", ...summary, delta });
    }
  }

  /** Nine of ten events are this one: a copy of the place would be half of its cost. */
  #emitTextDelta(part: Part, { delta, logprobs: given }: TextDelta): void {
    const { item_id, output_index } = this.#at;
    const type = "response.output_text.delta";
    const logprobs = given && this.#showsLogprobs ? toEmittedLogprobs(given) : NO_LOGPROBS;
    if (logprobs.length > 0) part.logprobs.push(...logprobs);
    this.#emit({ type, item_id, output_index, content_index: part.index, delta, logprobs });
  }

  arguments(delta: string): void {
    this.#arguments += delta;
    this.#emit({ type: this.#writing.delta, ...this.#at, delta } as Unnumbered);
  }

  annotation(index: number, annotation: Annotation): void {
    const part = this.#open("text", index);
    this.#emit({
      type: "response.output_text.annotation.added",
      ...this.#at,
      content_index: index,
      annotation_index: part.annotations++,
      annotation: toEmittedAnnotation(annotation),
    });
  }

  finish(item: EmittedItem): void {
    if (item.type === "message")
      this.#finishParts(item.content, (part) => (part.type === "refusal" ? "refusal" : "text"));
    if (item.type === "reasoning") {
      this.#finishParts(item.summary, () => "summary");
      this.#finishParts(item.content ?? [], () => "thought");
    }
    const writing = WRITINGS[item.type];
    if (!writing || !(this.#isOwn || MODEL_CALLS.has(item.type))) return;
    const whole = { [writing.field]: asJsonObject(item)[writing.field] ?? "" };
    const named = item.type === "function_call" ? { name: item.name } : {};
    this.#emit({ type: writing.done, ...this.#at, ...named, ...whole } as unknown as Unnumbered);
  }

  cut(item: EmittedItem): EmittedItem {
    const cut = { ...item, ...this.#said(item.type), ...toCutStatus(item) } as EmittedItem;
    this.finish(cut);
    return cut;
  }

  /** The fields of the item that the deltas wrote. */
  #said(type: EmittedItem["type"]): object {
    const written = (...kinds: PartKind[]): object[] =>
      this.#parts.filter(({ kind }) => kinds.includes(kind)).map((part) => toContent(part));
    switch (type) {
      case "message":
        return { content: written("text", "refusal") };
      case "reasoning":
        return { summary: written("summary"), content: written("thought") };
      default:
        return WRITINGS[type] ? { [this.#writing.field]: this.#arguments } : {};
    }
  }

  #finishParts<Content extends object>(
    parts: readonly Content[],
    kindFor: (part: Content) => PartKind,
  ): void {
    for (const [index, content] of parts.entries()) {
      const kind = kindFor(content);
      const part = this.#find(kind, index) ?? this.#open(kind, index);
      this.#close(part, content);
    }
  }

  #find(kind: PartKind, index: number): Part | undefined {
    const last = this.#parts.at(-1);
    if (last?.kind === kind && last.index === index) return last;
    return this.#parts.find((part) => part.kind === kind && part.index === index);
  }

  #open(kind: PartKind, index: number): Part {
    const known = this.#find(kind, index);
    if (known) return known;
    for (const part of this.#parts) this.#close(part, undefined);
    const part: Part = { kind, index, text: "", logprobs: [], annotations: 0, isOpen: true };
    this.#parts.push(part);
    this.#emitPart("added", part, toContent(part));
    return part;
  }

  #close(part: Part, given: object | undefined): void {
    if (!part.isOpen) return;
    part.isOpen = false;
    const content = given ?? toContent(part);
    this.#emitText(part, content);
    this.#emitPart("done", part, content);
  }

  #emitText({ kind, index }: Part, whole: object): void {
    const text = textIn(whole);
    const content = { content_index: index, ...this.#at };
    if (kind === "text") {
      const logprobs = logprobsIn(whole);
      this.#emit({ type: "response.output_text.done", ...content, text, logprobs });
    }
    if (kind === "refusal")
      this.#emit({ type: "response.refusal.done", ...content, refusal: text });
    if (kind === "thought") this.#emit({ type: "response.reasoning_text.done", ...content, text });
    const summary = { summary_index: index, ...this.#at };
    if (kind === "summary")
      this.#emit({ type: "response.reasoning_summary_text.done", ...summary, text });
  }

  #emitPart(when: "added" | "done", { kind, index }: Part, content: object): void {
    if (kind === "summary") {
      const part = content as { type: "summary_text"; text: string };
      const summary = { summary_index: index, part, ...this.#at };
      this.#emit({ type: `response.reasoning_summary_part.${when}`, ...summary } as Unnumbered);
      return;
    }
    const placed = { content_index: index, part: content as EmittedPart, ...this.#at };
    this.#emit({ type: `response.content_part.${when}`, ...placed } as Unnumbered);
  }
}

function toCutStatus(item: EmittedItem): { status?: "incomplete" | "failed" } {
  if (ITEM_FACTS.get(item.type)?.cut === "failed") return { status: "failed" };
  return item.type === "reasoning" || "status" in item ? { status: "incomplete" } : {};
}

/** Never changed. */
const NO_LOGPROBS: never[] = [];

export function idOf(item: EmittedItem): string {
  return "id" in item && typeof item.id === "string" ? item.id : "";
}

function kindOf(event: TextDelta | RefusalTextDelta | ReasoningDelta): PartKind {
  if (event.type === "text_delta") return "text";
  if (event.type === "refusal_delta") return "refusal";
  return event.kind === "summary" ? "summary" : "thought";
}

/** The part as far as it was written. */
function toContent({ kind, text, logprobs }: Part): object {
  if (kind === "text") {
    return { type: "output_text", text, annotations: [], logprobs: [...logprobs] };
  }
  if (kind === "refusal") return { type: "refusal", refusal: text };
  return kind === "thought" ? { type: "reasoning_text", text } : { type: "summary_text", text };
}

function textIn(content: object): string {
  const refusal = "refusal" in content ? content.refusal : undefined;
  return textOfPart(content) ?? (typeof refusal === "string" ? refusal : "");
}

function logprobsIn(content: object): EmittedLogprob[] {
  const isText = "type" in content && content.type === "output_text";
  return isText && "logprobs" in content ? (content.logprobs as EmittedLogprob[]) : [];
}
