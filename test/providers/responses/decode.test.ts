import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toUsage } from "../../../src/protocol/usage.ts";
import { endOf, itemsOf } from "../streams.ts";
import { added, call, completed, created, decode, done, message } from "./wire-events.ts";

describe("responses items", () => {
  it("are read from the published vocabulary", () => {
    assert.deepEqual(
      decode(
        created,
        added(0, call),
        { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"x"' },
        { type: "response.function_call_arguments.delta", output_index: 0, delta: ":1}" },
        { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"x":1}' },
        done(0, { ...call, arguments: '{"x":1}', status: "completed" }),
        completed(),
      ),
      [
        { type: "start", response_id: "r1", model: "m1" },
        { type: "item_start", index: 0, item: call },
        { type: "arguments_delta", index: 0, delta: '{"x"' },
        { type: "arguments_delta", index: 0, delta: ":1}" },
        {
          type: "item_end",
          index: 0,
          item: { ...call, arguments: '{"x":1}', status: "completed" },
        },
        {
          type: "end",
          reason: "tool_calls",
          usage: toUsage({}),
          continuation: { response_id: "r1", dialect: "function_call", stored: false },
        },
      ],
    );
  });

  it("are read from the older vocabulary, which is remembered", () => {
    const legacy = { type: "tool_call", id: "t1", name: "f" };
    const events = decode(
      created,
      { type: "response.output_item.added", item: legacy },
      { type: "response.tool_call_arguments.delta", item_id: "t1", delta: "{" },
      { type: "response.tool_call_arguments.delta", delta: "}" },
      { type: "response.output_item.done", item: { ...legacy, arguments: "{}" } },
      completed(),
    );
    assert.deepEqual(itemsOf(events), [
      { type: "function_call", id: "t1", call_id: "t1", name: "f", arguments: "{}" },
    ]);
    const { reason, continuation } = endOf(events);
    assert.deepEqual([reason, continuation?.dialect], ["tool_calls", "tool_call"]);
  });

  it("of the older vocabulary are distinguished by id without an index", () => {
    const events = decode(
      created,
      { type: "response.output_item.added", item: { type: "tool_call", id: "a", name: "f" } },
      { type: "response.output_item.added", item: { type: "tool_call", id: "b", name: "g" } },
      { type: "response.tool_call_arguments.delta", tool_call_id: "a", delta: "[1]" },
      { type: "response.tool_call_arguments.delta", tool_call_id: "b", delta: "[2]" },
      { type: "response.output_item.done", item: { type: "tool_call", id: "a", name: "f" } },
      { type: "response.output_item.done", item: { type: "tool_call", id: "b", name: "g" } },
      completed(),
    );
    assert.deepEqual(
      itemsOf(events).map((item) => item.type === "function_call" && item.arguments),
      ["[1]", "[2]"],
    );
  });

  it("use their id as the call's if there is no other", () => {
    const { call_id: _, ...bare } = call;
    const [item] = itemsOf(decode(created, added(0, bare), done(0, bare), completed()));
    assert.ok(item?.type === "function_call" && item.call_id === "fc_1");
  });

  it("use whole arguments in place of the fragments", () => {
    const events = decode(
      created,
      added(0, call),
      { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"x":' },
      { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"x":2}' },
      done(0, call),
      completed(),
    );
    assert.ok(itemsOf(events)[0]?.type === "function_call");
    assert.deepEqual(itemsOf(events), [{ ...call, arguments: '{"x":2}' }]);
  });

  it("emit arguments that came without fragments as one", () => {
    const events = decode(
      created,
      added(0, call),
      { type: "response.function_call_arguments.done", output_index: 0, arguments: "{}" },
      done(0, { ...call, arguments: "{}" }),
      completed(),
    );
    assert.deepEqual(events[2], { type: "arguments_delta", index: 0, delta: "{}" });
  });

  it("write arguments that came as an object as JSON", () => {
    const given = { ...call, arguments: { x: 1 } };
    const events = decode(created, added(0, call), done(0, given), completed());
    assert.deepEqual(itemsOf(events), [{ ...call, arguments: '{"x":1}' }]);
  });

  it("are found by their index if their ids change on the way", () => {
    const events = decode(
      created,
      added(0, { ...message, id: "a" }),
      {
        type: "response.output_text.delta",
        output_index: 0,
        item_id: "b",
        content_index: 0,
        delta: "A",
      },
      done(0, { ...message, id: "c", content: [{ type: "output_text", text: "A" }] }),
      completed(),
    );
    assert.equal(itemsOf(events).length, 1);
  });

  it("open with their first delta if they were not announced", () => {
    const events = decode(
      created,
      {
        type: "response.reasoning_summary_text.delta",
        output_index: 0,
        summary_index: 0,
        delta: "Hm",
      },
      {
        type: "response.output_text.delta",
        output_index: 1,
        item_id: "m",
        content_index: 0,
        delta: "Hi",
      },
      completed(),
    );
    assert.deepEqual(itemsOf(events), [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
      {
        ...message,
        id: "m",
        status: "completed",
        content: [{ type: "output_text", text: "Hi", annotations: [] }],
      },
    ]);
  });

  it("without an end are ended with the answer, with the text so far", () => {
    const custom = {
      type: "custom_tool_call",
      id: "c",
      call_id: "c",
      name: "f",
      input: "",
      status: "in_progress",
    };
    const events = decode(
      created,
      added(0, { type: "reasoning", id: "rs", summary: [] }),
      { type: "response.reasoning_text.delta", output_index: 0, content_index: 0, delta: "Hm" },
      added(1, { ...call, status: "in_progress" }),
      { type: "response.function_call_arguments.delta", output_index: 1, delta: "{}" },
      added(2, custom),
      { type: "response.custom_tool_call_input.delta", output_index: 2, delta: "x" },
      added(3, message),
      { type: "response.refusal.delta", output_index: 3, content_index: 0, delta: "No." },
      completed(),
    );
    assert.deepEqual(itemsOf(events), [
      {
        type: "reasoning",
        id: "rs",
        summary: [],
        content: [{ type: "reasoning_text", text: "Hm" }],
      },
      { ...call, arguments: "{}", status: "completed" },
      { ...custom, input: "x", status: "completed" },
      { ...message, status: "completed", content: [{ type: "refusal", refusal: "No." }] },
    ]);
  });

  it("end once, even if the server repeats the end", () => {
    const whole = { ...message, status: "completed" };
    decode(created, added(0, message), done(0, whole), done(0, whole), completed());
  });

  it("pieces after the end of an item are ignored", () => {
    decode(
      created,
      added(0, message),
      done(0, message),
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "late" },
      { type: "response.reasoning_text.delta", output_index: 0, content_index: 0, delta: "late" },
      completed(),
    );
  });

  it("start once, even if the server announces them twice", () => {
    decode(created, added(0, message), added(0, message), done(0, message), completed());
  });

  it("are distinguished by id if a server gives all of them one index", () => {
    const other = { ...call, id: "fc_2", call_id: "call_2" };
    const one = { ...call, arguments: "[1]" };
    const two = { ...other, arguments: "[2]" };
    const delta = { type: "response.function_call_arguments.delta", output_index: 0 };
    const events = decode(
      created,
      added(0, call),
      { ...delta, delta: "[1]" },
      done(0, one),
      added(0, other),
      { ...delta, delta: "[2]" },
      done(0, two),
      completed(),
    );
    assert.deepEqual(itemsOf(events), [one, two]);
  });

  it("are taken from the last event if none were streamed", () => {
    const output = [
      { ...message, content: [{ type: "output_text", text: "Hi" }] },
      { ...call, arguments: "{}" },
    ];
    assert.deepEqual(itemsOf(decode(created, completed({ output }))), output);
  });

  it("of unknown kinds are kept, and their events passed on unchanged", () => {
    const item = { type: "acme:thing", id: "x", field: [1] };
    const progress = { type: "response.acme_thing.progress", output_index: 0, percent: 50 };
    const events = decode(created, added(0, item), progress, done(0, item), completed());
    assert.deepEqual(events[2], { type: "opaque", event: progress });
    assert.deepEqual(itemsOf(events), [item]);
  });

  it("items of a Responses answer keep their citations", () => {
    const annotation = { type: "url_citation", url: "https://x.org" };
    const events = decode(
      created,
      added(0, message),
      {
        type: "response.output_text.annotation.added",
        output_index: 0,
        content_index: 0,
        annotation,
      },
      done(0, message),
      completed(),
    );
    assert.deepEqual(events[2], { type: "annotation", index: 0, part: 0, annotation });
  });
});

describe("missing parts of a responses stream", () => {
  const start = { type: "start", response_id: "r1", model: "m1" };

  it("are one start, however often it is repeated", () => {
    assert.deepEqual(decode(created, created, completed())[0], start);
    const late = decode(added(0, message), created, done(0, message), completed());
    assert.deepEqual(late[0], { type: "start", response_id: "", model: "" });
  });

  it("are the item of a refusal, which its first delta opens", () => {
    const refusal = { type: "response.refusal.delta", output_index: 0 };
    const whole = { ...message, content: [{ type: "refusal", refusal: "No." }] };
    const events = decode(
      created,
      { ...refusal, delta: "No." },
      done(0, whole),
      { ...refusal, delta: "late" },
      completed(),
    );
    assert.deepEqual(itemsOf(events), [whole]);
  });

  it("are the payload of an event, which then has no effect", () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [] };
    const events = decode(
      created,
      added(0, thought),
      { type: "response.reasoning_text.delta", output_index: 0 },
      { type: "response.output_text.annotation.added", output_index: 0 },
      { type: "response.output_item.done", output_index: 0 },
      done(0, thought),
      added(1, call),
      { type: "response.function_call_arguments.delta", output_index: 1 },
      { type: "response.function_call_arguments.done", output_index: 1 },
      done(1, { ...call, arguments: "{}" }),
      completed(),
    );
    assert.deepEqual(itemsOf(events), [thought, { ...call, arguments: "{}" }]);
    assert.ok(!events.some(({ type }) => type === "arguments_delta" || type === "annotation"));
  });

  it("are the tools of an MCP server, which its last event still names", () => {
    const listed = { type: "mcp_list_tools", id: "mcpl_1", server_label: "docs", tools: [] };
    const full = { ...listed, tools: [{ name: "search", input_schema: {} }] };
    const whole = { ...message, content: [{ type: "output_text", text: "Hi." }] };
    const starts = [created, added(0, listed)];
    const ends = [added(1, whole), done(1, whole)];
    for (const [given, output, kept] of [
      [listed, [full, whole], full],
      [listed, [whole], listed],
      [listed, "none", listed],
      [listed, [listed, whole], listed],
      [full, [listed, whole], full],
    ] as const) {
      const events = decode(...starts, done(0, given), ...ends, completed({ output }));
      const items = itemsOf(events).filter(({ type }) => type === "mcp_list_tools");
      assert.deepEqual(items, [kept]);
    }
    const unannounced = decode(created, done(0, listed), ...ends, completed({ output: [full] }));
    assert.deepEqual(
      itemsOf(unannounced).find(({ type }) => type === "mcp_list_tools"),
      full,
    );
  });

  it("are the id and the name of a call, which its start has named", () => {
    const bare = { type: "function_call", arguments: "{}" };
    const events = decode(created, added(0, call), done(0, bare), completed());
    assert.deepEqual(itemsOf(events), [{ ...bare, call_id: "call_1", name: call.name }]);
  });
});
