/**
 * Events as server-sent events: `event` repeats the type, there is no `id`, and each frame ends with a
 * blank line.
 */

import { isLarge, toTextPieces } from "../base/json-pieces.ts";
import { quote } from "../base/quote.ts";
import type { EmittedEvent } from "../protocol/emitted.ts";
import type { StreamEvent, WholeFrame } from "./route.ts";

/**
 * A longer frame is written separately: each of the last events of an answer holds the whole answer.
 */
const JOINED_LENGTH = 64 * 1024;

/**
 * Yields what can be written at once: one text for most batches. Frames are made on demand. A large event is yielded
 * as an object, to be written as JSON in slices.
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
 * A batch of text deltas as one text; undefined for any other batch. Most batches of a stream are of this kind, and
 * with a single client on a fast line each has one or two deltas: a generator would be half of their cost.
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

/** An agent of a team adds its name to its events, so those are not plain. */
function isPlainDelta(event: StreamEvent): event is TextDelta {
  return "type" in event && event.type === "response.output_text.delta" && !("agent" in event);
}

/** The common beginning of all deltas of one part, and one such delta. */
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
 * Nine of ten events are deltas, and all of one part differ in two fields. Written by hand they cost a third of
 * `JSON.stringify` of the whole event (bench/gateway.ts). The text is the same.
 */
function toDeltaFrame(head: DeltaHead, { delta, logprobs, sequence_number }: TextDelta): string {
  const likely = logprobs.length === 0 ? "[]" : JSON.stringify(logprobs);
  return `${head.text}${quote(delta)},"logprobs":${likely},"sequence_number":${sequence_number}}\n\n`;
}
