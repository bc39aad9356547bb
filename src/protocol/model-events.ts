/**
 * What a provider may say while a model answers. Wires emit these and nothing else; the Responses
 * API's much longer list of events is made from them in one place (`responses/event-writer.ts`).
 *
 * Order: one `start`; then for each item one `item_start`, any number of its deltas and one
 * `item_end`, items side by side told apart by `index`; then exactly one `end`, and nothing after.
 * A provider that fails throws a `Failure`; there is no error event to forget to handle.
 */

import type { JsonObject } from "../base/json.ts";
import type { Annotation, Logprob } from "./content.ts";
import type { Item } from "./items.ts";
import type { Usage } from "./usage.ts";

export type ModelEvent =
  | ModelStart
  | ItemStart
  | TextDelta
  | RefusalDelta
  | ReasoningDelta
  | ArgumentsDelta
  | AnnotationAdded
  | OpaqueEvent
  | ItemEnd
  | ModelEnd;

export interface ModelStart {
  readonly type: "start";
  /** The vendor's own id of this answer; empty where it gives none. */
  readonly response_id: string;
  /** The model that really answers; empty where the vendor does not say. */
  readonly model: string;
}

/** Opens an item, as far as it is known: a message without text, a call without arguments. */
export interface ItemStart {
  readonly type: "item_start";
  /** Place in this answer's output, from 0. */
  readonly index: number;
  readonly item: Item;
  /** Whether it is a call that this server makes, and not the vendor, who tells its progress itself. */
  readonly own?: boolean | undefined;
}

export interface TextDelta {
  readonly type: "text_delta";
  readonly index: number;
  /** Which content part of the message, from 0. */
  readonly part: number;
  readonly delta: string;
  /** How likely its tokens were, where that was asked for. */
  readonly logprobs?: readonly Logprob[] | undefined;
}

export interface RefusalDelta {
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

/** A vendor's event we do not interpret (progress of a tool it runs itself), word for word. */
export interface OpaqueEvent {
  readonly type: "opaque";
  readonly event: JsonObject;
}

/** Closes an item. `item` is whole: what the deltas said is in it, and it goes into the history. */
export interface ItemEnd {
  readonly type: "item_end";
  readonly index: number;
  readonly item: Item;
  /**
   * The id of a call that is still to be made: the item stays open, and the `tool_end` of that call
   * closes it. Only where a server makes calls that it shows as items of their own.
   */
  readonly pending?: string | undefined;
}

export interface ModelEnd {
  readonly type: "end";
  readonly reason: EndReason;
  readonly usage: Usage;
  /** What the vendor says that it charges, in US dollars; left out where it does not say. */
  readonly cost_usd?: number | undefined;
  /** What the vendor says of the ending beyond its reason; left out where it says no more. */
  readonly stop?: StopDetail | undefined;
  /** What the same wire needs to go on from here; nobody else looks inside. */
  readonly continuation: Continuation | undefined;
  /** Who answered, where the model's name stands for several deployments. */
  readonly by?: AnsweredBy | undefined;
}

/** Why exactly an answer ended, where its vendor says it. */
export interface StopDetail {
  /** `stop_sequence`: a text of the request's `stop` came up. `context_window`: the model's window was full. */
  readonly reason: "stop_sequence" | "context_window";
  /** The text that came up, where the vendor says which. */
  readonly sequence?: string | undefined;
}

/** The one of several deployments that answered. */
export interface AnsweredBy {
  /** As records, log lines and metrics name it: `custom/qwen3-8b@gpu-1:8000`. */
  readonly deployment: string;
  /** `vendor/model`. */
  readonly model: string;
  /** How often deployments were asked for this answer, this time included. */
  readonly tries: number;
}

/**
 * `length`: the token limit cut the answer. `refusal`: the vendor's filter or the model declined.
 * `pause`: the vendor wants the same conversation sent again to go on.
 */
export type EndReason = "stop" | "tool_calls" | "length" | "refusal" | "pause";

/** Where a stateful vendor stands after an answer. */
export interface Continuation {
  readonly response_id: string;
  /** The vocabulary the server spoke; results are given in the same one. */
  readonly dialect: "function_call" | "tool_call";
  /** Whether the server keeps the answer under its id. */
  readonly stored: boolean;
}
