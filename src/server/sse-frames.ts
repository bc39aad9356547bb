/**
 * Events as server-sent events: `event` repeats the type, there is no `id`, and each frame ends with a
 * blank line.
 */

import { isLarge, toTextPieces } from "../base/json-pieces.ts";
import { quote } from "../base/quote.ts";
import type { EmittedEvent } from "../protocol/emitted.ts";
import type { StreamEvent, WholeFrame } from "./route.ts";

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
    if ("sse" in event) {
      text += event.sse;
      continue;
    }
    if (isPlainDelta(event)) {
      if (!head || !isOfSamePart(head.event, event)) head = toDeltaHead(event);
      text += toDeltaFrame(head, event);
      continue;
    }
    text += "frame" in event ? "data: " : `event: ${event.type}\ndata: `;
    const data = toData(event);
    if (typeof data === "string") text += `${data}\n\n`;
    else {
      yield text;
      yield* data;
      text = "\n\n";
    }
  }
  if (text !== "") yield text;
}

/**
 * A batch of pieces of text as one text; undefined for any other. Most batches of a stream are such, and with a
 * client alone on a quick line each is a piece or two: a generator would be half of what they cost.
 */
export function toDeltaFrames(batch: readonly StreamEvent[]): string | undefined {
  let text = "";
  let head: DeltaHead | undefined;
  for (const event of batch) {
    if ("sse" in event) {
      text += event.sse;
      continue;
    }
    if (!isPlainDelta(event)) return undefined;
    if (!head || !isOfSamePart(head.event, event)) head = toDeltaHead(event);
    text += toDeltaFrame(head, event);
  }
  return text;
}

function toData(event: Exclude<StreamEvent, WholeFrame>): string | Iterable<string | EmittedEvent> {
  if ("frame" in event) {
    return event.frame.length < JOINED_LENGTH ? event.frame : toTextPieces(event.frame);
  }
  if (isLarge(event)) return [event];
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
