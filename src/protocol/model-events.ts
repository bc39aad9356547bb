/**
 * The events that a provider may emit while a model answers. Wires emit nothing else; the much longer list
 * of events of the Responses API is made from them in one place (`responses/event-writer.ts`).
 *
 * Order: one `start`; then for each item one `item_start`, any number of its deltas and one `item_end`,
 * items side by side distinguished by `index`; then exactly one `end`, and nothing after. A provider that
 * fails throws a `Failure`; there is no error event to forget to handle.
 */

import type { JsonObject } from "../base/json.ts";
import type { Annotation, Logprob } from "./content.ts";
import type { Item } from "./items.ts";
import type { Usage } from "./usage.ts";

export type ModelEvent =
  | ModelStart
  | ItemStart
  | TextDelta
  | RefusalTextDelta
  | ReasoningDelta
  | ArgumentsDelta
  | AnnotationAdded
  | OpaqueEvent
  | ItemEnd
  | ModelEnd;

export interface ModelStart {
  readonly type: "start";
  /** The vendor's id of this answer; empty if it gives none. */
  readonly response_id: string;
  /** The model that really answers; empty if the vendor does not say. */
  readonly model: string;
}

/** Opens an item, as far as it is known: a message without text, a call without arguments. */
export interface ItemStart {
  readonly type: "item_start";
  /** Position in this answer's output, from 0. */
  readonly index: number;
  readonly item: Item;
  /** True for a call that this server makes. The vendor reports the progress of its own calls itself. */
  readonly own?: boolean | undefined;
}

export interface TextDelta {
  readonly type: "text_delta";
  readonly index: number;
  /** The content part of the message, from 0. */
  readonly part: number;
  readonly delta: string;
  /** How likely its tokens were, if the request asked for that. */
  readonly logprobs?: readonly Logprob[] | undefined;
}

export interface RefusalTextDelta {
  readonly type: "refusal_delta";
  readonly index: number;
  readonly part: number;
  readonly delta: string;
}

export interface ReasoningDelta {
  readonly type: "reasoning_delta";
  readonly index: number;
  readonly part: number;
  /** A summary written for the reader, or the model's own chain of thought. */
  readonly kind: "summary" | "text";
  readonly delta: string;
}

/** A piece of a call's arguments (`function_call`) or of its free text (`custom_tool_call`). */
export interface ArgumentsDelta {
  readonly type: "arguments_delta";
  readonly index: number;
  readonly delta: string;
}

export interface AnnotationAdded {
  readonly type: "annotation";
  readonly index: number;
  readonly part: number;
  readonly annotation: Annotation;
}

/** An event of the vendor that we do not interpret (progress of a tool it runs itself), word for word. */
export interface OpaqueEvent {
  readonly type: "opaque";
  readonly event: JsonObject;
}

/** Closes an item. `item` is complete: it contains what the deltas said, and goes into the history. */
export interface ItemEnd {
  readonly type: "item_end";
  readonly index: number;
  readonly item: Item;
  /**
   * The id of a call that is still to be made: the item stays open, and the `tool_end` of that call closes
   * it. Only for calls that the server makes and shows as items of their own.
   */
  readonly pending?: string | undefined;
}

export interface ModelEnd {
  readonly type: "end";
  readonly reason: EndReason;
  readonly usage: Usage;
  /** The price that the vendor names, in US dollars; left out if it names none. */
  readonly cost_usd?: number | undefined;
  /** Details of the ending that the vendor gives besides its reason; left out if it gives none. */
  readonly stop?: StopDetail | undefined;
  /** State that the same wire needs to continue from here. No other code looks inside. */
  readonly continuation: Continuation | undefined;
  /** The deployment that answered, if the model's name stands for several. */
  readonly by?: AnsweredBy | undefined;
}

/** Why exactly an answer ended, if its vendor says so. */
export interface StopDetail {
  /**
   * `stop_sequence`: a text of the request's `stop` occurred. `context_window`: the model's window was
   * full.
   */
  readonly reason: "stop_sequence" | "context_window";
  /** The text that occurred, if the vendor says which. */
  readonly sequence?: string | undefined;
}

/** The deployment that answered, one of several. */
export interface AnsweredBy {
  /** The deployment's name in records, log lines and metrics: `custom/qwen3-8b@gpu-1:8000`. */
  readonly deployment: string;
  /** `vendor/model`. */
  readonly model: string;
  /** How often deployments were asked for this answer, including this time. */
  readonly tries: number;
}

/**
 * `length`: the answer reached the token limit. `refusal`: the vendor's filter or the model declined.
 * `pause`: the vendor wants the same conversation again to continue.
 */
export type EndReason = "stop" | "tool_calls" | "length" | "refusal" | "pause";

/** Where a stateful vendor stands after an answer. */
export interface Continuation {
  readonly response_id: string;
  /** The vocabulary that the server used; results are sent in the same one. */
  readonly dialect: "function_call" | "tool_call";
  /** True if the server stores the answer under its id. */
  readonly stored: boolean;
}
