/**
 * The stream of the Responses API as servers really write it, in both vocabularies: the published one
 * (`function_call`) and the older one (`tool_call`). Fields that carry no text of the answer are loose.
 * Fields that the decoder does not use, and items of the vendor's own, pass through it unchanged.
 */

import type { JsonObject } from "../../base/json.ts";
import { Annotation } from "../../protocol/content.ts";
import { ResponseEvent } from "../../protocol/response-events.ts";
import { LOGPROBS } from "../logprob-shape.ts";
import { TOLD_COST } from "../models/told-cost.ts";
import {
  anything,
  either,
  flag,
  list,
  loose,
  number,
  object,
  type Shape,
  type Shaped,
  text,
} from "../shape.ts";
import { shapeOf } from "./published-shape.ts";

const ANNOTATION = shapeOf(Annotation);

const PART = object({
  type: text,
  text,
  refusal: text,
  annotations: loose(list(ANNOTATION)),
  logprobs: LOGPROBS,
});
export type WirePart = Shaped<typeof PART>;

const ANY_ITEM = object({ type: text, id: loose(text), call_id: loose(text) });

const OWN_ITEM = object({
  role: loose(text),
  status: loose(text),
  name: text,
  /** JSON text, or the object itself. */
  arguments: anything,
  input: text,
  summary: list(PART),
  content: either(text, list(PART)),
  encrypted_content: loose(text),
});
export type WireItem = Shaped<typeof ANY_ITEM> & Shaped<typeof OWN_ITEM>;

/** The kinds whose fields are read here. All others are checked against the published schemas. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "tool_call",
  "custom_tool_call",
]);

const ITEM: Shape<WireItem> = {
  check(value) {
    const problem = ANY_ITEM.check(value);
    if (problem !== undefined) return problem;
    const { type } = value as WireItem;
    if (!type) return "has no type";
    return OWN_TYPES.has(type) ? OWN_ITEM.check(value) : undefined;
  },
};

/** The items of a whole answer. Those of a stream's last event are read where they are used. */
export const OUTPUT = list(ITEM);

const USAGE = object({
  input_tokens: loose(number),
  output_tokens: loose(number),
  input_tokens_details: loose(
    object({ cached_tokens: loose(number), cache_write_tokens: loose(number) }),
  ),
  output_tokens_details: loose(object({ reasoning_tokens: loose(number) })),
  ...TOLD_COST,
  /** xAI's: how often it ran each of its tools, as `web_search_calls`. */
  server_side_tool_usage_details: loose(object({})),
});
export type WireUsage = Shaped<typeof USAGE>;

export const RESPONSE = object({
  object: loose(text),
  id: loose(text),
  model: loose(text),
  status: loose(text),
  store: loose(flag),
  output: anything,
  usage: loose(USAGE),
  error: anything,
  incomplete_details: loose(object({ reason: loose(text) })),
});
export type WireResponse = Shaped<typeof RESPONSE>;

/** The item that an event belongs to: by index, otherwise by id. */
const PLACE = {
  output_index: loose(number),
  content_index: loose(number),
  summary_index: loose(number),
  item_id: loose(text),
  tool_call_id: loose(text),
  call_id: loose(text),
};

/** The shape of the most common events in a stream, with only the fields that they can have. */
export const DELTA_EVENT = object({
  ...PLACE,
  delta: text,
  /** Empty unless they were requested. */
  logprobs: LOGPROBS,
});

const EVENT_FIELDS = object({
  ...PLACE,
  response: RESPONSE,
  item: ITEM,
  arguments: text,
  input: text,
  annotation: loose(ANNOTATION),
});
export const EVENT: Shape<WireEvent> = EVENT_FIELDS;
export type WireEvent = Shaped<typeof EVENT_FIELDS> & Shaped<typeof DELTA_EVENT>;

/** Events that are passed on: progress of a tool that the server runs, and unknown events. */
export const OTHER_EVENT = shapeOf(ResponseEvent);

/** The parts of a message or of reasoning, even if a server sends it as one text, or parts without a type. */
export function partsOf({ type, content }: WireItem): readonly WirePart[] {
  const kind = type === "reasoning" ? "reasoning_text" : "output_text";
  if (typeof content === "string") return content === "" ? [] : [{ type: kind, text: content }];
  return (content ?? []).map((part) => {
    if (part.type) return part;
    return { ...part, type: typeof part.refusal === "string" ? "refusal" : kind };
  });
}

/** Recognizes the most common events without reading their whole shape, which takes four times as long. */
export function isPlainDelta(event: JsonObject): event is JsonObject & WireEvent {
  const { delta, output_index, content_index, summary_index, item_id, logprobs } = event;
  if (typeof delta !== "string" || typeof output_index !== "number") return false;
  if (content_index !== undefined && typeof content_index !== "number") return false;
  if (summary_index !== undefined && typeof summary_index !== "number") return false;
  if (item_id !== undefined && typeof item_id !== "string") return false;
  return logprobs === undefined || (Array.isArray(logprobs) && logprobs.length === 0);
}
