/**
 * The events of one output item's parts: a part is opened by its first delta and closed with its
 * whole text when the item ends. A part without deltas is opened and closed at the end.
 */

import { asJson, asJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type {
  AnnotationAdded,
  ArgumentsDelta,
  ReasoningDelta,
  RefusalTextDelta,
  TextDelta,
} from "../../protocol/model-events.ts";
import { toOutputPart } from "./response-object.ts";

/** An event of the stream without its number. */
export type UnnumberedEvent = JsonObject & { readonly type: string };

type PartEvent = TextDelta | RefusalTextDelta | ReasoningDelta | ArgumentsDelta | AnnotationAdded;

export interface UpstreamPartWriter {
  write(event: PartEvent): Iterable<UnnumberedEvent>;
  /** Called once, with the whole item. */
  close(item: Item): Iterable<UnnumberedEvent>;
}

export function createPartWriter(itemId: string, outputIndex: number): UpstreamPartWriter {
  const opened = new Set<string>();
  let annotations = 0;
  const place = { item_id: itemId, output_index: outputIndex };

  function* openSummary(part: number): Generator<UnnumberedEvent, void> {
    if (opened.has(`summary ${part}`)) return;
    opened.add(`summary ${part}`);
    const empty = { type: "summary_text", text: "" };
    yield {
      type: "response.reasoning_summary_part.added",
      ...place,
      summary_index: part,
      part: empty,
    };
  }

  function* openContent(index: number, part: JsonObject): Generator<UnnumberedEvent, void> {
    if (opened.has(`content ${index}`)) return;
    opened.add(`content ${index}`);
    yield { type: "response.content_part.added", ...place, content_index: index, part };
  }

  function* write(event: PartEvent): Generator<UnnumberedEvent, void> {
    if (event.type === "arguments_delta") {
      return yield { type: "response.function_call_arguments.delta", ...place, delta: event.delta };
    }
    if (event.type === "reasoning_delta" && event.kind === "summary") {
      yield* openSummary(event.part);
      const at = { ...place, summary_index: event.part };
      return yield { type: "response.reasoning_summary_text.delta", ...at, delta: event.delta };
    }
    yield* openContent(event.part, EMPTY_PARTS[event.type]);
    const at = { ...place, content_index: event.part };
    if (event.type === "annotation") {
      return yield { ...toAnnotationEvent(event, annotations++), ...at };
    }
    const likely = event.type === "text_delta" ? { logprobs: toJson(event.logprobs) } : {};
    yield { type: DELTA_TYPES[event.type], ...at, delta: event.delta, ...likely };
  }

  function* closeSummary(text: string, part: number): Generator<UnnumberedEvent, void> {
    yield* openSummary(part);
    const at = { ...place, summary_index: part };
    yield { type: "response.reasoning_summary_text.done", ...at, text };
    const whole = { type: "summary_text", text };
    yield { type: "response.reasoning_summary_part.done", ...at, part: whole };
  }

  function* closeContent(part: JsonObject, index: number): Generator<UnnumberedEvent, void> {
    const { empty, done } = doneOf(part);
    yield* openContent(index, empty);
    const at = { ...place, content_index: index };
    yield { ...done, ...at } as UnnumberedEvent;
    yield { type: "response.content_part.done", ...at, part: toOutputPart(part) };
  }

  function* close(item: Item): Generator<UnnumberedEvent, void> {
    if (item.type === "function_call") {
      const { name, arguments: args } = item;
      yield { type: "response.function_call_arguments.done", ...place, name, arguments: args };
    }
    if (item.type === "reasoning") {
      for (const [part, { text }] of item.summary.entries()) yield* closeSummary(text, part);
    }
    if (item.type !== "message" && item.type !== "reasoning") return;
    const content = Array.isArray(item.content) ? item.content : [];
    for (const [index, part] of content.entries()) yield* closeContent(part as JsonObject, index);
  }

  return { write, close };
}

const EMPTY_TEXT = { type: "output_text", text: "", annotations: [], logprobs: [] };
const EMPTY_REFUSAL = { type: "refusal", refusal: "" };
const EMPTY_REASONING = { type: "reasoning_text", text: "" };

/** The content of a part when its first event comes. */
const EMPTY_PARTS = {
  text_delta: EMPTY_TEXT,
  annotation: EMPTY_TEXT,
  refusal_delta: EMPTY_REFUSAL,
  reasoning_delta: EMPTY_REASONING,
} as const;

const DELTA_TYPES = {
  text_delta: "response.output_text.delta",
  refusal_delta: "response.refusal.delta",
  reasoning_delta: "response.reasoning_text.delta",
} as const;

function toJson(logprobs: TextDelta["logprobs"]): Json {
  return asJson(logprobs ?? []);
}

function toAnnotationEvent({ annotation }: AnnotationAdded, index: number): UnnumberedEvent {
  const type = "response.output_text.annotation.added";
  return { type, annotation_index: index, annotation: asJsonObject(annotation) };
}

function doneOf(part: JsonObject): { empty: JsonObject; done: UnnumberedEvent } {
  if (part["type"] === "refusal") {
    const done = { type: "response.refusal.done", refusal: part["refusal"] };
    return { empty: EMPTY_REFUSAL, done };
  }
  if (part["type"] === "reasoning_text") {
    return {
      empty: EMPTY_REASONING,
      done: { type: "response.reasoning_text.done", text: part["text"] },
    };
  }
  const { text, logprobs = [] } = part;
  const done = { type: "response.output_text.done", text, logprobs };
  return { empty: EMPTY_TEXT, done };
}
