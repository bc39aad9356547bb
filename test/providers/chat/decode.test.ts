import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import type { FunctionCall } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { NO_USAGE, toUsage } from "../../../src/protocol/usage.ts";
import { createDecoder } from "../../../src/providers/chat/decode.ts";
import { assertEventOrder } from "../event-order.ts";
import { decodeAll, endOf, itemsOf } from "../streams.ts";

/** A chunk with this delta. */
const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: "c1",
  model: "m1",
  choices: [{ index: 0, delta, finish_reason }],
});
const STOP = chunk({}, "stop");

function decode(...payloads: readonly (object | string)[]): ModelEvent[] {
  const events = decodeAll(createDecoder(), ...payloads);
  assertEventOrder(events);
  return events;
}

/** The calls that fragments make, without their type and status. */
function callsOf(...fragments: readonly object[]): object[] {
  const deltas = fragments.map((fragment) => chunk({ tool_calls: [fragment] }));
  const items = itemsOf(decode(...deltas, chunk({}, "tool_calls")));
  return items.map((item) => {
    const { call_id, name, arguments: text } = item as FunctionCall;
    return { call_id, name, arguments: text };
  });
}

describe("chat text", () => {
  it("opens with its first piece and closes with the answer", () => {
    const item = { type: "message", role: "assistant" };
    assert.deepEqual(
      decode(
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "Hel" }),
        chunk({ content: "lo" }, "stop"),
      ),
      [
        { type: "start", response_id: "c1", model: "m1" },
        { type: "item_start", index: 0, item: { ...item, status: "in_progress", content: [] } },
        { type: "text_delta", index: 0, part: 0, delta: "Hel" },
        { type: "text_delta", index: 0, part: 0, delta: "lo" },
        {
          type: "item_end",
          index: 0,
          item: {
            ...item,
            status: "completed",
            content: [{ type: "output_text", text: "Hello", annotations: [] }],
          },
        },
        { type: "end", reason: "stop", usage: NO_USAGE, continuation: undefined },
      ],
    );
  });

  it("ends the reasoning before it, and starts again after reasoning", () => {
    const events = decode(
      chunk({ reasoning_content: "Hm" }),
      chunk({ reasoning: "." }),
      chunk({ content: "A" }),
      chunk({ reasoning_content: "Wait" }),
      chunk({ content: "B" }, "stop"),
    );
    const content = itemsOf(events).map((item) => ("content" in item ? item.content : []));
    assert.deepEqual(content, [
      [{ type: "reasoning_text", text: "Hm." }],
      [{ type: "output_text", text: "A", annotations: [] }],
      [{ type: "reasoning_text", text: "Wait" }],
      [{ type: "output_text", text: "B", annotations: [] }],
    ]);
  });

  it("is emitted once if a server sends its reasoning under two names", () => {
    const events = decode(chunk({ reasoning_content: "Hm", reasoning: "Hm" }), STOP);
    assert.equal(events.filter(({ type }) => type === "reasoning_delta").length, 1);
  });

  it("a chat text keeps its citations", () => {
    const url_citation = { url: "https://x.org", title: "X", start_index: 0, end_index: 1 };
    const events = decode(
      chunk({ content: "A" }),
      chunk({ annotations: [{ type: "url_citation", url_citation }] }),
      STOP,
    );
    const annotation = { type: "url_citation", ...url_citation };
    assert.deepEqual(events[3], { type: "annotation", index: 0, part: 0, annotation });
    assert.deepEqual(itemsOf(events), [
      {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "A", annotations: [annotation] }],
      },
    ]);
  });

  it("may be missing from an answer", () => {
    const annotations = [{ type: "url_citation", url_citation: { url: "https://x.org" } }];
    for (const given of [STOP, chunk({ annotations }, "stop"), "[DONE]"]) {
      assert.deepEqual(itemsOf(decode(given)), []);
    }
  });
});

describe("chat tool calls", () => {
  const call = (call_id: string, name: string, text: string) => ({
    call_id,
    name,
    arguments: text,
  });
  const cases: readonly [name: string, fragments: readonly object[], calls: readonly object[]][] = [
    [
      "joined by index",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "" } },
        { index: 0, function: { arguments: '{"x"' } },
        { index: 0, function: { arguments: ":1}" } },
      ],
      [call("a", "f", '{"x":1}')],
    ],
    [
      "joined by index when two are interleaved",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "{" } },
        { index: 1, id: "b", function: { name: "g", arguments: "[" } },
        { index: 0, function: { arguments: "}" } },
        { index: 1, function: { arguments: "]" } },
      ],
      [call("a", "f", "{}"), call("b", "g", "[]")],
    ],
    [
      "joined by id where there is no index",
      [
        { id: "a", function: { name: "f", arguments: "{" } },
        { id: "b", function: { name: "g", arguments: "[" } },
        { id: "a", function: { arguments: "}" } },
        { id: "b", function: { arguments: "]" } },
      ],
      [call("a", "f", "{}"), call("b", "g", "[]")],
    ],
    [
      "joined to the last where there is neither",
      [{ id: "a", function: { name: "f", arguments: "{" } }, { function: { arguments: "}" } }],
      [call("a", "f", "{}")],
    ],
    [
      "not named twice by a repeated id and name",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "{" } },
        { index: 0, id: "a", function: { name: "f", arguments: "}" } },
      ],
      [call("a", "f", "{}")],
    ],
    [
      "not named away by an empty id and name",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "{" } },
        { index: 0, id: "", function: { name: "", arguments: "}" } },
        { index: 0, id: null, function: { name: null, arguments: null } },
      ],
      [call("a", "f", "{}")],
    ],
    [
      "told apart by a new id when all are numbered 0",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "{}" } },
        { index: 0, id: "b", function: { name: "f", arguments: "[" } },
        { index: 0, function: { arguments: "]" } },
      ],
      [call("a", "f", "{}"), call("b", "f", "[]")],
    ],
    [
      "not told apart by an id that changes in the middle of the arguments",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "{" } },
        { index: 0, id: "b", function: { name: "f", arguments: "}" } },
      ],
      [call("a", "f", "{}")],
    ],
    [
      "given ids of their own when two have the same",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "{}" } },
        { index: 1, id: "a", function: { name: "g", arguments: "{}" } },
      ],
      [call("a", "f", "{}"), call("a_1", "g", "{}")],
    ],
    [
      "given ids when they have none",
      [
        { index: 0, function: { name: "f", arguments: "{}" } },
        { index: 1, id: "", function: { name: "g", arguments: "{}" } },
      ],
      [call("call_c1_0", "f", "{}"), call("call_c1_1", "g", "{}")],
    ],
    [
      "numbered from anywhere",
      [{ index: 3, id: "a", function: { name: "f", arguments: "{}" } }],
      [call("a", "f", "{}")],
    ],
    [
      "whole in one piece, with no arguments",
      [{ index: 0, id: "a", function: { name: "f" } }],
      [call("a", "f", "")],
    ],
    [
      "kept when their arguments are not JSON",
      [{ index: 0, id: "a", function: { name: "f", arguments: '{"x":' } }],
      [call("a", "f", '{"x":')],
    ],
  ];
  for (const [name, fragments, calls] of cases) {
    it(`are ${name}`, () => assert.deepEqual(callsOf(...fragments), calls));
  }

  it("of one chunk are all read", () => {
    const tool_calls = [
      { index: 0, id: "a", function: { name: "f", arguments: "{}" } },
      { index: 1, id: "b", function: { name: "g", arguments: "{}" } },
    ];
    assert.equal(itemsOf(decode(chunk({ tool_calls }), chunk({}, "tool_calls"))).length, 2);
  });

  it("follow the text, and end with the answer", () => {
    const tool_calls = [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }];
    const events = decode(
      chunk({ content: "Let me." }),
      chunk({ tool_calls }),
      chunk({}, "tool_calls"),
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        "start",
        "item_start",
        "text_delta",
        "item_end",
        "item_start",
        "arguments_delta",
        "item_end",
        "end",
      ],
    );
  });

  it("end the turn as calls, whatever reason the server sends", () => {
    const tool_calls = [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }];
    assert.equal(endOf(decode(chunk({ tool_calls }), STOP)).reason, "tool_calls");
  });

  it("without a name make a broken answer", () => {
    const nameless = { index: 0, id: "a", function: { arguments: "{}" } };
    assert.throws(() => callsOf(nameless), { code: "broken_answer" });
  });
});

describe("the end of a chat answer", () => {
  const reasons = [
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "refusal"],
    ["something_new", "stop"],
  ] as const;
  for (const [given, reason] of reasons) {
    it(`is \`${reason}\` for \`${given}\``, () => {
      assert.equal(endOf(decode(chunk({ content: "A" }, given))).reason, reason);
    });
  }

  it("an item that the limit truncated is marked as incomplete", () => {
    const tool_calls = [{ index: 0, id: "a", function: { name: "f", arguments: "{" } }];
    for (const delta of [{ content: "A" }, { tool_calls }]) {
      const [item] = itemsOf(decode(chunk(delta), chunk({}, "length")));
      assert.ok(item && "status" in item && item.status === "incomplete");
    }
  });

  it("is a refusal if the model declined", () => {
    const events = decode(chunk({ refusal: "I can" }), chunk({ refusal: "not." }), STOP);
    assert.equal(endOf(events).reason, "refusal");
    const [item] = itemsOf(events);
    assert.deepEqual(item && "content" in item && item.content, [
      { type: "refusal", refusal: "I cannot." },
    ]);
    assert.equal(events.filter(({ type }) => type === "refusal_delta").length, 2);
  });

  it("comes with [DONE] alone", () => {
    assert.equal(endOf(decode(chunk({ content: "A" }), "[DONE]")).reason, "stop");
  });

  it("comes once, whatever is sent after it", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    decode(chunk({ content: "A" }, "stop"), { usage }, "[DONE]", "[DONE]", chunk({ content: "B" }));
  });

  it("that never comes breaks the protocol", () => {
    for (const payloads of [[], [chunk({ content: "A" })], [{ usage: {} }], ["not JSON"]]) {
      assert.throws(() => decodeAll(createDecoder(), ...payloads), {
        code: "provider_broke_protocol",
      });
    }
  });

  const errors: readonly [error: object | string, code: FailureCode][] = [
    [{ message: "Busy", code: "rate_limit_exceeded" }, "provider_overloaded"],
    [{ message: "Busy", code: 429 }, "provider_overloaded"],
    [{ message: "Too long", code: "context_length_exceeded" }, "context_exceeded"],
    [{ message: "No money", code: "insufficient_quota" }, "provider_rejected"],
    [{ message: "Broke" }, "provider_failed"],
    ["Broke", "provider_failed"],
  ];
  for (const [error, code] of errors) {
    it(`is \`${code}\` for an error in the stream: ${JSON.stringify(error)}`, () => {
      assert.throws(() => decode(chunk({ content: "A" }), { error }), { code });
    });
  }

  it("ignores lines that are not JSON or not chunks", () => {
    const events = decode(
      "nonsense",
      "null",
      "3",
      "[]",
      {},
      chunk({ content: "A" }),
      '{"id":',
      STOP,
    );
    assert.equal(itemsOf(events).length, 1);
  });
});

describe("chat usage", () => {
  const counted = { prompt_tokens: 10, completion_tokens: 5 };
  const shapes = [
    ["totals alone", { usage: counted }, { input: 10, output: 5 }],
    [
      "with details",
      {
        usage: {
          ...counted,
          prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
      { input: 10, cached: 4, cacheWrite: 2, output: 5, reasoning: 3 },
    ],
    [
      "DeepSeek's cache",
      { usage: { ...counted, prompt_cache_hit_tokens: 6 } },
      { input: 10, cached: 6, output: 5 },
    ],
    [
      "reasoning at the top",
      { usage: { ...counted, reasoning_tokens: 2 } },
      { input: 10, output: 5, reasoning: 2 },
    ],
    ["Groq's own place", { x_groq: { usage: counted } }, { input: 10, output: 5 }],
    [
      "nulls",
      { usage: { prompt_tokens: 10, completion_tokens: null, prompt_tokens_details: null } },
      { input: 10 },
    ],
    ["none", { usage: null }, {}],
  ] as const;
  for (const [name, more, counts] of shapes) {
    it(`is read from any place: ${name}`, () => {
      assert.deepEqual(endOf(decode(STOP, { choices: [], ...more })).usage, toUsage(counts));
    });
  }

  it("is the last one of a server that sends counts in between", () => {
    const running = {
      ...chunk({ content: "A" }),
      usage: { prompt_tokens: 10, completion_tokens: 1 },
    };
    assert.deepEqual(
      endOf(decode(running, { ...STOP, usage: counted })).usage,
      toUsage({ input: 10, output: 5 }),
    );
  });

  it("is read after [DONE] too", () => {
    assert.equal(endOf(decode(STOP, "[DONE]", { usage: counted })).usage.input_tokens, 10);
  });
});
