import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { FunctionCall, Message, Reasoning } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { unseal } from "../../../src/protocol/sealed-reasoning.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import { createDecoder } from "../../../src/providers/messages/decode.ts";
import { assertEventOrder } from "../event-order.ts";
import { decodeAll, itemsOf } from "../streams.ts";
import { call, delta, ended, START, STOP, start, stop, text } from "./wire-events.ts";

function decode(...payloads: readonly (JsonObject | string)[]): ModelEvent[] {
  const events = decodeAll(createDecoder(), ...payloads);
  assertEventOrder(events);
  return events;
}

/** The items of a complete answer with these blocks. */
const itemsIn = (...events: readonly JsonObject[]) =>
  itemsOf(decode(START, ...events, ended("end_turn"), STOP));

describe("text of the Messages API", () => {
  it("opens with its first piece and closes with the answer", () => {
    const message = { type: "message", role: "assistant" };
    const part = { type: "output_text", text: "Hello", annotations: [] };
    assert.deepEqual(decode(START, ...text(0, "Hel", "lo"), ended("end_turn"), STOP), [
      { type: "start", response_id: "msg_1", model: "claude" },
      {
        type: "item_start",
        index: 0,
        item: { ...message, status: "in_progress", content: [] },
      },
      { type: "text_delta", index: 0, part: 0, delta: "Hel" },
      { type: "text_delta", index: 0, part: 0, delta: "lo" },
      {
        type: "item_end",
        index: 0,
        item: { ...message, status: "completed", content: [part] },
      },
      {
        type: "end",
        reason: "stop",
        usage: toUsage({ input: 5, output: 7 }),
        continuation: undefined,
      },
    ]);
  });

  it("of adjacent blocks is one message with a part each", () => {
    const [message, ...more] = itemsIn(...text(0, "A"), ...text(1), ...text(2, "B"));
    assert.equal(more.length, 0);
    const { content } = message as Message;
    assert.deepEqual(
      (content as { text: string }[]).map((part) => part.text),
      ["A", "B"],
    );
  });

  it("is a new message after another block", () => {
    const items = itemsIn(...text(0, "A"), ...call(1, "c1", "{}"), ...text(2, "B"));
    assert.deepEqual(
      items.map(({ type }) => type),
      ["message", "function_call", "message"],
    );
  });

  it("keeps its citations unchanged, over the whole of its part", () => {
    const web = { type: "web_search_result_location", url: "https://x.org", title: "X" };
    const page = { type: "page_location", document_index: 0, document_title: "D", file_id: "f1" };
    const cited = (citation: JsonObject) => delta(0, { type: "citations_delta", citation });
    const [block, first, , last] = text(0, "A", "B") as [
      JsonObject,
      JsonObject,
      JsonObject,
      JsonObject,
    ];
    const events = decode(
      START,
      block,
      cited(web),
      first,
      cited(page),
      last,
      ended("end_turn"),
      STOP,
    );
    const span = { start_index: 0, end_index: 1 };
    const annotations = [
      { type: "url_citation", url: "https://x.org", title: "X", ...span, anthropic: web },
      {
        type: "file_citation",
        file_id: "f1",
        filename: "D",
        quote: null,
        index: 0,
        ...span,
        anthropic: page,
      },
    ];
    const added = events.filter((event) => event.type === "annotation");
    assert.deepEqual(
      added.map(({ annotation }) => annotation),
      annotations,
    );
    const [message] = itemsOf(events);
    assert.deepEqual((message as Message).content, [
      { type: "output_text", text: "A", annotations },
    ]);
  });
});

describe("thinking of the Messages API", () => {
  it("is a reasoning item with its sealed block", () => {
    const [thought] = itemsIn(
      start(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm" }),
      delta(0, { type: "thinking_delta", thinking: "." }),
      delta(0, { type: "signature_delta", signature: "sig" }),
      stop(0),
    );
    const { content, encrypted_content } = thought as Reasoning;
    assert.deepEqual(content, [{ type: "reasoning_text", text: "Hm." }]);
    const block = { type: "thinking", thinking: "Hm.", signature: "sig" };
    assert.deepEqual(unseal("messages", encrypted_content), block);
  });

  it("may be redacted, or without text, and is kept nevertheless", () => {
    const redacted = { type: "redacted_thinking", data: "xyz" };
    const omitted = { type: "thinking", thinking: "", signature: "sig" };
    const items = itemsIn(start(0, redacted), stop(0), start(1, omitted), stop(1));
    assert.deepEqual(
      items.map((item) => unseal("messages", (item as Reasoning).encrypted_content)),
      [redacted, omitted],
    );
    assert.deepEqual(
      items.map((item) => (item as Reasoning).content),
      [[], []],
    );
  });

  it("that was interrupted before its signature is not sent back", () => {
    const cut = [
      start(0, { type: "thinking", thinking: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm" }),
      ended("max_tokens"),
    ];
    const [thought] = itemsOf(decode(START, ...cut, STOP));
    assert.equal((thought as Reasoning).encrypted_content, undefined);
  });
});

describe("calls of the Messages API", () => {
  const callsOf = (...events: readonly JsonObject[]) =>
    itemsIn(...events).map((item) => {
      const { call_id, arguments: args } = item as FunctionCall;
      return [call_id, args];
    });

  it("are joined from fragments, in parallel", () => {
    const calls = callsOf(...call(0, "a", "", '{"x"', ":1}"), ...call(1, "b", "{}"));
    assert.deepEqual(calls, [
      ["a", '{"x":1}'],
      ["b", "{}"],
    ]);
  });

  it("without fragments have the input of their start", () => {
    const whole = start(1, { type: "tool_use", id: "b", name: "read", input: { path: "a" } });
    assert.deepEqual(callsOf(...call(0, "a"), whole, stop(1)), [
      ["a", "{}"],
      ["b", '{"path":"a"}'],
    ]);
  });

  it("get ids of their own if two have the same, or none", () => {
    const nameless = start(2, { type: "tool_use", name: "read", input: {} });
    const calls = callsOf(...call(0, "a"), ...call(1, "a"), nameless, stop(2));
    assert.deepEqual(
      calls.map(([id]) => id),
      ["a", "a_1", "call_msg_1_2"],
    );
  });

  it("keep their other fields", () => {
    const caller = { type: "code_execution_20250825", tool_id: "srv_1" };
    const block = { type: "tool_use", id: "a", name: "read", input: {}, caller };
    const [kept] = itemsIn(start(0, block), stop(0)) as unknown as JsonObject[];
    assert.deepEqual(kept, {
      type: "anthropic:tool_use",
      id: "a",
      block: { type: "tool_use", id: "a", caller },
    });
  });

  it("without a name make a broken answer", () => {
    const nameless = start(0, { type: "tool_use", id: "a", input: {} });
    assert.throws(() => decode(START, nameless), { code: "broken_answer" });
  });
});

describe("blocks that only the vendor understands", () => {
  it("are items that contain them unchanged, with their input joined", () => {
    const block = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
    const result = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ a: 1 }] };
    const items = itemsIn(
      start(0, block),
      delta(0, { type: "input_json_delta", partial_json: '{"query":' }),
      delta(0, { type: "input_json_delta", partial_json: '"x"}' }),
      stop(0),
      start(1, result),
      stop(1),
    );
    assert.deepEqual(items, [
      {
        type: "anthropic:server_tool_use",
        id: "srv_1",
        block: { ...block, input: { query: "x" } },
      },
      { type: "anthropic:web_search_tool_result", id: "msg_1_1", block: result },
    ]);
  });

  it("grow by unknown deltas", () => {
    const [item] = itemsIn(
      start(0, { type: "compaction", content: null }),
      delta(0, { type: "compaction_delta", content: "Sum", encrypted_content: "e" }),
      delta(0, { type: "compaction_delta", content: "mary" }),
      stop(0),
    ) as unknown as JsonObject[];
    const block = { type: "compaction", content: "Summary", encrypted_content: "e" };
    assert.deepEqual(item?.["block"], block);
  });

  it("may be in the start of the answer", () => {
    const result = { type: "tool_search_tool_result", tool_use_id: "srv_0", content: {} };
    const message = { id: "msg_1", content: [result] };
    const events = decode({ type: "message_start", message }, ...text(0, "A"), ended("end_turn"));
    assert.deepEqual(
      itemsOf(events).map(({ type }) => type),
      ["anthropic:tool_search_tool_result", "message"],
    );
  });

  it("keep the container that the answer has used", () => {
    const events = decode(START, ended("end_turn", { container: { id: "c_1" } }), STOP);
    assert.deepEqual(itemsOf(events), [
      {
        type: "anthropic:container",
        id: "c_1",
        block: { type: "container", id: "c_1" },
      },
    ]);
  });
});
