/**
 * What we send, checked against the types of OpenAI's own client. The compiler does the work: this file
 * does not compile if one of the claims below is wrong.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OpenAI } from "openai";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import type {
  EmittedEvent,
  EmittedPart,
  EmittedResponse,
  OwnItem,
  PassedItem,
} from "../../../src/protocol/emitted.ts";
import { type Item, parseItem } from "../../../src/protocol/items.ts";
import type { ResponseEvent } from "../../../src/protocol/response-events.ts";
import type { Tool } from "../../../src/protocol/tools.ts";

type Theirs = OpenAI.Responses.ResponseStreamEvent;

/** A type that exists only if `Ours` fits where `Expected` is wanted. */
type Fits<Ours extends Expected, Expected> = [Ours, Expected];

/**
 * Our value after JSON, which has no `undefined`. Their types have no null in three fields in which
 * recordings of their own service have it.
 */
type Sent<Value> = Value extends PassedItem
  ? never
  : JsonObject extends Value
    ? Value
    : Value extends object
      ? { [Key in keyof Value]: SentField<Key, Exclude<Value[Key], undefined>> }
      : Value;
type SentField<Key, Value> = Key extends keyof Echoed
  ? Echoed[Key]
  : Sent<Key extends "usage" | "user" | "description" ? NonNullable<Value> : Value>;

/** Sent back as the client sent them, so they fit their lists as well as the client's did. */
type Echoed = Pick<OpenAI.Responses.Response, "tools" | "tool_choice" | "prompt">;

/** Events that every client of a stream waits for. */
type Promised =
  | "response.created"
  | "response.in_progress"
  | "response.output_item.added"
  | "response.output_item.done"
  | "response.content_part.added"
  | "response.content_part.done"
  | "response.output_text.delta"
  | "response.output_text.done"
  | "response.refusal.delta"
  | "response.refusal.done"
  | "response.function_call_arguments.delta"
  | "response.function_call_arguments.done"
  | "response.custom_tool_call_input.delta"
  | "response.custom_tool_call_input.done"
  | "response.reasoning_summary_part.added"
  | "response.reasoning_summary_part.done"
  | "response.reasoning_summary_text.delta"
  | "response.reasoning_summary_text.done"
  | "response.completed"
  | "response.incomplete"
  | "response.failed"
  | "error";

export type Claims = [
  Fits<Sent<EmittedEvent>, Theirs>,
  // The check above would also pass without any events.
  Fits<Promised, Sent<EmittedEvent>["type"]>,
  Fits<Sent<EmittedResponse>, OpenAI.Responses.Response>,
  Fits<Sent<OwnItem>, OpenAI.Responses.ResponseOutputItem>,
  Fits<Sent<EmittedPart>, OpenAI.Responses.ResponseContentPartAddedEvent["part"]>,
  // What is stored and journaled must be JSON by its type too.
  Fits<Item, Json>,
  Fits<Tool, Json>,
  Fits<ResponseEvent, Json>,
];

describe("types", () => {
  it("narrow an item by its type", () => {
    const item = parseItem({ type: "function_call", call_id: "c", name: "f", arguments: "{}" });
    const text: string = item.type === "function_call" ? item.arguments : assert.fail();
    assert.equal(text, "{}");
  });
});
