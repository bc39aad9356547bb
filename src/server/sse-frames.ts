/**
 * Events as server-sent events: `event` repeats the type, there is no `id`, and each frame ends with a
 * blank line.
 */

import { isLarge, toTextPieces } from "../base/json-pieces.ts";
import type { EmittedEvent } from "../protocol/emitted.ts";
import type { StreamEvent } from "./route.ts";

/** A longer frame goes by itself: the last events of an answer hold all of it, each. */
const JOINED_LENGTH = 64 * 1024;

/**
 * What is written at once: one text for most batches. Frames are made when they are asked for. An event that
 * is large is given itself, in the place of its JSON, to be written in slices.
 */
export function* toFrames(batch: readonly StreamEvent[]): Generator<string | EmittedEvent> {
  let text = "";
  let head: DeltaHead | undefined;
  for (const event of batch) {
    if (isPlainDelta(event)) {
      if (!head || !isOfSamePart(head.event, event)) head = toDeltaHead(event);
      text += toDeltaFrame(head, event);
    } else text = yield* addFrame(text, event);
  }
  if (text !== "") yield text;
}

/** Returns what is written together with what follows. */
function* addFrame(
  before: string,
  event: StreamEvent,
): Generator<string | EmittedEvent, string, undefined> {
  if ("frame" in event) return yield* addData(`${before}data: `, event);
  const text = `${before}event: ${event.type}\ndata: `;
  if (!isLarge(event)) return yield* addData(text, event);
  yield text;
  yield event;
  return "\n\n";
}

function* addData(text: string, event: StreamEvent): Generator<string, string, undefined> {
  const data = toData(event);
  if (typeof data === "string") return `${text}${data}\n\n`;
  yield text;
  yield* data;
  return "\n\n";
}

function toData(event: StreamEvent): string | Iterable<string> {
  if ("frame" in event) {
    return event.frame.length < JOINED_LENGTH ? event.frame : toTextPieces(event.frame);
  }
  const text = JSON.stringify(event);
  return text.length < JOINED_LENGTH ? text : [text];
}

type TextDelta = Extract<EmittedEvent, { type: "response.output_text.delta" }>;

/** An agent of a team has its name in what it says. */
function isPlainDelta(event: StreamEvent): event is TextDelta {
  return "type" in event && event.type === "response.output_text.delta" && !("agent" in event);
}

/** What all deltas of one part begin with, and one of them. */
interface DeltaHead {
  readonly event: TextDelta;
  readonly text: string;
}

function isOfSamePart(one: TextDelta, other: TextDelta): boolean {
  return (
    one.item_id === other.item_id &&
    one.output_index === other.output_index &&
    one.content_index === other.content_index
  );
}

function toDeltaHead(event: TextDelta): DeltaHead {
  const { item_id, output_index, content_index } = event;
  const place = `"item_id":${quote(item_id)},"output_index":${output_index},"content_index":${content_index}`;
  const text = `event: response.output_text.delta\ndata: {"type":"response.output_text.delta",${place},"delta":`;
  return { event, text };
}

/**
 * Nine of ten events are these, and all of one part differ in two fields: written by hand they cost a
 * third of what `JSON.stringify` takes for the whole (bench/gateway.ts). The text is the same.
 */
function toDeltaFrame(head: DeltaHead, { delta, logprobs, sequence_number }: TextDelta): string {
  const likely = logprobs.length === 0 ? "[]" : JSON.stringify(logprobs);
  return `${head.text}${quote(delta)},"logprobs":${likely},"sequence_number":${sequence_number}}\n\n`;
}

/** Nothing in it that JSON would write otherwise. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
