/** Checks that the checker finds what it should: every rule is broken once. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { write } from "../responses/fold/written-events.ts";
import { functionCall, message, runEnd, runStart, turn } from "../responses/logged-run.ts";
import { checkEvents, checkResponse, eventFaults, responseFaults } from "./check.ts";
import { findOrderFaults } from "./event-order.ts";
import { adapt, DIFFERENCES, type Difference } from "./known-differences.ts";
import { eventSchemaOf, findFaults } from "./oracles.ts";

const CALL = { call_id: "call_1", name: "read" };

function stream(): JsonObject[] {
  const log = turn(1, ...message(0, "Hel", "lo"), ...functionCall(1, CALL, '{"a"', ":1}"));
  return JSON.parse(JSON.stringify(write(runStart(), ...log, runEnd()))) as JsonObject[];
}

const at = (events: readonly JsonObject[], type: string): number =>
  events.findIndex((event) => event["type"] === type);

/** The stream with one event changed. */
function withEvent(type: string, change: (event: JsonObject) => JsonObject): JsonObject[] {
  const events = stream();
  const index = at(events, type);
  return events.with(index, change(events[index] ?? assert.fail(type)));
}

/** The stream without one event, numbered again. */
function without(type: string): JsonObject[] {
  const events = stream();
  return events
    .toSpliced(at(events, type), 1)
    .map((event, sequence_number) => ({ ...event, sequence_number }));
}

const MESSAGE_DONE = "response.output_item.done";

describe("the order of events", () => {
  it("is valid in a written stream", () => checkEvents(stream()));

  const broken: Readonly<Record<string, readonly [JsonObject[], RegExp]>> = {
    "a gap in the numbers": [
      withEvent("response.output_text.delta", (event) => ({ ...event, sequence_number: 99 })),
      /has the number 99/,
    ],
    "no beginning": [without("response.created"), /the first event is/],
    "no ending": [without("response.completed"), /the last event is/],
    "two endings": [
      [...stream(), { ...stream().at(-1), sequence_number: stream().length }],
      /not one ending/,
    ],
    "an item that is never done": [without(MESSAGE_DONE), /does not end with one `done`/],
    "an item that was never added": [
      without("response.output_item.added"),
      /does not begin with one `added`/,
    ],
    "a part that was never opened": [without("response.content_part.added"), /begins with/],
    "a part that was never closed": [without("response.content_part.done"), /ends with/],
    "a text that was never told whole": [without("response.output_text.done"), /has no text/],
    "a piece that is missing": [without("response.output_text.delta"), /in pieces/],
    "arguments that were never told whole": [
      without("response.function_call_arguments.done"),
      /has 0 of/,
    ],
    "an id that changes": [
      withEvent(MESSAGE_DONE, (event) => ({
        ...event,
        item: { ...(event["item"] as object), id: "x" },
      })),
      /changes its id/,
    ],
    "an event of another item": [
      withEvent("response.output_text.delta", (event) => ({ ...event, item_id: "x" })),
      /event of another item/,
    ],
    "a place that is wrong": [
      withEvent("response.output_item.added", (event) => ({ ...event, output_index: 4 })),
      /items are added at 4/,
    ],
    "an ending without the items": [
      withEvent("response.completed", (event) => ({
        ...event,
        response: { ...(event["response"] as object), output: [] },
      })),
      /ends with another output/,
    ],
    "a status that is not the ending's": [
      withEvent("response.completed", (event) => ({
        ...event,
        response: { ...(event["response"] as object), status: "failed" },
      })),
      /has status failed/,
    ],
  };
  for (const [name, [events, fault]] of Object.entries(broken)) {
    it(`is invalid with ${name}`, () => {
      assert.match(findOrderFaults(events).join("\n"), fault);
    });
  }
});

describe("the descriptions", () => {
  const response = (): JsonObject => stream().at(-1)?.["response"] as JsonObject;

  it("allow a written response", () => checkResponse(response()));

  it("notice a missing field that only one of them requires", () => {
    const { background: _, ...rest } = response();
    assert.match(responseFaults(rest).join(), /^open-responses .*background/);
    const { usage, ...unused } = response();
    const { cache_write_tokens: _tokens, ...details } = (usage as Record<string, JsonObject>)[
      "input_tokens_details"
    ] as JsonObject;
    const older = { ...unused, usage: { ...(usage as object), input_tokens_details: details } };
    assert.match(responseFaults(older).join(), /^openai .*cache_write_tokens/);
  });

  it("reject an unpublished event", () => {
    const faults = eventFaults([{ type: "response.made_up", sequence_number: 0 }]);
    assert.match(faults.join(), /openai has no event.*open-responses has no event/);
  });

  for (const row of DIFFERENCES) {
    it(`differ on purpose: ${row.oracle}, ${row.name}`, () => {
      const { schema, value, of } = toWhole(row, response());
      assert.notDeepEqual(schema && findFaults(row.oracle, schema, value), [], "nothing differs");
      const adapted = adapt(row.oracle, of, value);
      if (!adapted) return;
      const renamed = of === "event" ? schemaOf(row, adapted) : schema;
      assert.deepEqual(findFaults(row.oracle, renamed ?? assert.fail(), adapted), []);
    });
  }
});

interface Whole {
  /** Undefined if the oracle has no such event. */
  readonly schema: string | undefined;
  readonly value: JsonObject;
  readonly of: "response" | "event";
}

/** The example of a row inside a whole response or event. */
function toWhole(row: Difference, response: JsonObject): Whole {
  const { of, example, oracle } = row;
  if (of === "event") return { schema: schemaOf(row, example), value: example, of };
  if (of === "item") {
    const value = { type: MESSAGE_DONE, output_index: 0, sequence_number: 0, item: example };
    return { schema: schemaOf(row, value), value, of: "event" };
  }
  const schema = oracle === "openai" ? "Response" : "ResponseResource";
  const more = of === "tool" ? { tools: [example] } : example;
  return { schema, value: { ...response, ...more }, of: "response" };
}

function schemaOf({ oracle }: Difference, event: JsonObject): string | undefined {
  return eventSchemaOf(oracle, String(event["type"]));
}
