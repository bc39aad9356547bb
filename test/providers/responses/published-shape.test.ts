import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { type Item, parseItem } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { itemsOf } from "../streams.ts";
import { added, completed, created, decode, done, message } from "./wire-events.ts";

/** The item as history, streams and requests have it. Every event contains one that is valid for its kind. */
function readItem(item: JsonObject): JsonObject {
  const events = decode(created, added(0, item), done(0, item), completed());
  for (const event of events) if ("item" in event) parseItem(event.item);
  const [whole] = itemsOf(decode(completed({ object: "response", output: [item] })));
  const [streamed] = itemsOf(events);
  assert.deepEqual(whole, streamed);
  return JSON.parse(JSON.stringify(streamed)) as JsonObject;
}

const search = (action: unknown): JsonObject => ({
  type: "web_search_call",
  id: "ws_1",
  status: "completed",
  action: action as JsonObject,
});

describe("an item of a tool that the vendor runs", () => {
  it("is passed on unchanged if it fits its kind, with unknown fields", () => {
    const sources = [{ type: "url", url: "https://a.example", rank: 1 }];
    const item = { ...search({ type: "search", query: "a", sources }), cost: { usd: 1 } };
    assert.deepEqual(readItem(item), item);
  });

  for (const wrong of [7, "word", {}, [null], [7], [[]]]) {
    it(`is passed on without sources that are ${JSON.stringify(wrong)}`, () => {
      const item = search({ type: "search", query: "a", sources: wrong });
      assert.deepEqual(readItem(item), search({ type: "search", query: "a" }));
    });
  }

  it("is passed on without an action, an owner or a status of another type", () => {
    const item = { ...search(7), status: {}, agent: "me", created_by: 7 } as unknown as JsonObject;
    assert.deepEqual(readItem(item), { type: "web_search_call", id: "ws_1" });
  });

  const EMPTY: readonly [given: JsonObject, read: JsonObject][] = [
    [{ type: "file_search_call" }, { queries: [] }],
    [
      { type: "mcp_list_tools", tools: null },
      { server_label: "", tools: [] },
    ],
    [
      { type: "mcp_call", name: "f" },
      { server_label: "", arguments: "" },
    ],
    [{ type: "shell_call", call_id: "c" }, { action: { commands: [] } }],
    [
      { type: "program_output", status: null },
      { call_id: "", result: "" },
    ],
  ];
  for (const [given, filled] of EMPTY) {
    it(`has every field of ${given["type"]}, even if the vendor leaves it out`, () => {
      const { tools: _, status: __, ...rest } = given;
      assert.deepEqual(readItem(given), { ...rest, ...filled });
    });
  }

  it("is a broken answer if a required field has another type", () => {
    const items: readonly JsonObject[] = [
      { type: "file_search_call", queries: 7 },
      { type: "mcp_call", server_label: "a", name: {}, arguments: "" },
      { type: "shell_call", call_id: "c", action: { commands: [7] } },
      { type: "mcp_list_tools", server_label: "a", tools: [7] },
    ];
    for (const item of items) {
      assert.throws(() => readItem(item), {
        code: "broken_answer",
        message: /not in the API's form/,
      });
    }
    assert.throws(() => readItem({ id: "a", text: "Hi" }), { message: /\.item has no type/ });
  });

  it("is left alone if its kind is unknown", () => {
    const item = { type: "acme_call", id: "a", action: 7, sources: [null] };
    assert.deepEqual(readItem(item), item);
  });
});

describe("an item of the model's own", () => {
  const read = (item: JsonObject): Item | undefined => {
    const events: ModelEvent[] = decode(created, done(0, item), completed());
    const [found] = itemsOf(events);
    parseItem(found);
    return found;
  };

  it("is passed on without optional fields of another type", () => {
    const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
    const all = { agent: 7, created_by: {}, status: {} };
    const cases: [object, object][] = [
      [message, { ...all, phase: 7 }],
      [call, { ...all, namespace: [], caller: "me" }],
    ];
    for (const [item, more] of cases) {
      const found = read({ ...item, ...more } as JsonObject) as unknown as JsonObject;
      for (const name of Object.keys(more)) assert.equal(found[name], undefined, name);
    }
  });

  it("has a kind for each of its parts, if the server sends none", () => {
    const content = [{ text: "Hi" }, { refusal: "No." }] as unknown as JsonObject[];
    assert.deepEqual((read({ ...message, content }) as unknown as JsonObject)["content"], [
      { type: "output_text", text: "Hi" },
      { type: "refusal", refusal: "No." },
    ]);
    const thought = {
      type: "reasoning",
      id: "rs",
      summary: [{ text: "Hm" }],
      content: [{ text: "A" }],
    };
    const found = read(thought as unknown as JsonObject) as unknown as JsonObject;
    assert.deepEqual(found["summary"], [{ text: "Hm", type: "summary_text" }]);
    assert.deepEqual(found["content"], [{ text: "A", type: "reasoning_text" }]);
  });

  it("has the text of its deltas, if a part has no text", () => {
    const content = [{ type: "output_text", text: null }];
    const said = { type: "response.output_text.delta", output_index: 0, delta: "Hello" };
    const events = decode(
      created,
      added(0, message),
      said,
      done(0, { ...message, content }),
      completed(),
    );
    const [found] = itemsOf(events) as unknown as JsonObject[];
    assert.deepEqual(found?.["content"], [{ type: "output_text", text: "Hello" }]);
  });
});

describe("progress of a tool that the vendor runs", () => {
  const toldOf = (event: JsonObject): JsonObject[] =>
    decode(created, event, completed()).flatMap((told) =>
      told.type === "opaque" ? [JSON.parse(JSON.stringify(told.event)) as JsonObject] : [],
    );
  const code = { type: "response.code_interpreter_call_code.delta", item_id: "ci", delta: "1" };

  it("is passed on unchanged if it fits its kind, or its kind is unknown", () => {
    for (const event of [code, { type: "response.acme.delta", delta: 7 }]) {
      assert.deepEqual(toldOf({ ...event, padding: [1] }), [{ ...event, padding: [1] }]);
    }
  });

  it("is not passed on if a required field has another type", () => {
    for (const delta of [7, {}, ["1"], true]) assert.deepEqual(toldOf({ ...code, delta }), []);
  });
});
