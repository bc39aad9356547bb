import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Message } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import { createDecoder } from "../../../src/providers/messages/decode.ts";
import { assertEventOrder } from "../event-order.ts";
import { decodeAll, endOf, itemsOf } from "../streams.ts";
import { call, delta, ended, START, STOP, text } from "./wire-events.ts";

function decode(...payloads: readonly (JsonObject | string)[]): ModelEvent[] {
  const events = decodeAll(createDecoder(), ...payloads);
  assertEventOrder(events);
  return events;
}

describe("the end of an answer of the Messages API", () => {
  const reasons = [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["something_new", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refusal"],
    ["pause_turn", "pause"],
    ["compaction", "pause"],
  ] as const;
  for (const [given, reason] of reasons) {
    it(`is \`${reason}\` for \`${given}\``, () => {
      assert.equal(endOf(decode(START, ...text(0, "A"), ended(given), STOP)).reason, reason);
    });
  }

  it("is a request for results if there are calls", () => {
    const events = decode(START, ...call(0, "a", "{}"), ended("tool_use"), STOP);
    assert.equal(endOf(events).reason, "tool_calls");
  });

  it("is broken if it asks for results without a call", () => {
    for (const blocks of [[], text(0, "I shall read it.")]) {
      const answer = [START, ...blocks, ended("tool_use"), STOP];
      assert.throws(() => decodeAll(createDecoder(), ...answer), {
        code: "broken_answer",
        message: /named no tool/,
      });
    }
  });

  it("marks only the last item as incomplete if the limit truncated it", () => {
    const events = decode(START, ...text(0, "A"), ...call(1, "a", "{"), ended("max_tokens"), STOP);
    assert.deepEqual(
      itemsOf(events).map((item) => "status" in item && item.status),
      ["completed", "incomplete"],
    );
  });

  it("reports why the vendor refused", () => {
    const stop_details = { type: "refusal", explanation: "Not that." };
    const events = decode(START, ended("refusal", { stop_details }), STOP);
    const [message] = itemsOf(events);
    assert.deepEqual((message as Message).content, [{ type: "refusal", refusal: "Not that." }]);
  });

  it("comes once, whatever is sent after it", () => {
    const second = { ...START, message: { ...START.message, id: "msg_2" } };
    const events = decode(START, ...text(0, "A"), ended("end_turn"), STOP, STOP, second);
    assert.equal(itemsOf(events).length, 1);
  });

  it("comes without its last event too", () => {
    assert.equal(endOf(decode(START, ...text(0, "A"), ended("end_turn"))).reason, "stop");
  });

  it("that never comes breaks the protocol", () => {
    for (const payloads of [[], [START], [START, ...text(0, "A")], ["not JSON"]]) {
      assert.throws(() => decodeAll(createDecoder(), ...payloads), {
        code: "provider_broke_protocol",
      });
    }
  });

  const errors: readonly [error: JsonObject, code: FailureCode][] = [
    [{ type: "overloaded_error", message: "Overloaded" }, "provider_overloaded"],
    [{ type: "rate_limit_error", message: "Slow down" }, "provider_overloaded"],
    [{ type: "api_error", message: "Internal server error" }, "provider_failed"],
  ];
  for (const [error, code] of errors) {
    it(`is \`${code}\` for an error in the stream: ${error["type"]}`, () => {
      assert.throws(() => decode(START, ...text(0, "A"), { type: "error", error }), { code });
    });
  }
});

describe("the Messages API through proxies", () => {
  it("ignores pings, unknown events, lines that are not JSON, and a second start", () => {
    const events = decode(
      { type: "ping" },
      START,
      START,
      "nonsense",
      "null",
      { type: "brand_new_event" },
      { type: "content_block_start", index: 9 },
      delta(8, { type: "brand_new_delta", text: "?" }),
      ...text(0, "A"),
      START,
      ended("end_turn"),
      STOP,
    );
    assert.equal(itemsOf(events).length, 1);
  });

  it("is repaired if a start is missing", () => {
    const bare = delta(0, { type: "text_delta", text: "A" });
    const thought = delta(1, { type: "thinking_delta", thinking: "B" });
    assert.deepEqual(
      itemsOf(decode(bare, thought, ended("end_turn"), STOP)).map(({ type }) => type),
      ["message", "reasoning"],
    );
  });

  it("is repaired if ids and the numbers of blocks are missing", () => {
    const result = { type: "mcp_tool_result", content: [] };
    const events = decode(
      { type: "message_start" },
      { type: "content_block_start", content_block: result },
      { type: "content_block_delta", delta: { is_error: false } },
      { type: "content_block_delta" },
      { type: "content_block_stop" },
      { type: "message_delta", usage: { output_tokens: 1 } },
      ended("end_turn"),
    );
    assert.deepEqual(itemsOf(events), [
      { type: "anthropic:mcp_tool_result", id: "block_0", block: { ...result, is_error: false } },
    ]);
  });

  it("is repaired if only the end comes", () => {
    const whole = [{ type: "start", response_id: "", model: "" }, { type: "end" }];
    for (const last of [ended("end_turn"), STOP]) {
      const [start, { type } = {}] = decode(last);
      assert.deepEqual([start, { type }], whole);
    }
  });

  it("is repaired if another answer starts before the first has any content", () => {
    const second = { ...START, message: { ...START.message, id: "msg_2" } };
    assert.equal(itemsOf(decode(START, second, ...text(0, "A"), ended("end_turn"))).length, 1);
  });
});

describe("usage of the Messages API", () => {
  const usageOf = (first: JsonObject, last: JsonObject) =>
    endOf(
      decode(
        { type: "message_start", message: { id: "m", usage: first } },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: last },
        STOP,
      ),
    ).usage;

  it("counts tokens read from the cache and written to it as input", () => {
    const first = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 30,
      output_tokens: 1,
    };
    const last = { output_tokens: 20, output_tokens_details: { thinking_tokens: 15 } };
    assert.deepEqual(
      usageOf(first, last),
      toUsage({ input: 140, cached: 100, cacheWrite: 30, output: 20, reasoning: 15 }),
    );
  });

  it("knows which tokens are cached for an hour", () => {
    const first = {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 25 },
    };
    assert.deepEqual(
      usageOf(first, { output_tokens: 1 }),
      toUsage({ input: 40, cacheWrite: 30, cacheWriteHour: 25, output: 1 }),
    );
  });

  it("is taken from the end if the end has counts", () => {
    const last = { input_tokens: 12, cache_read_input_tokens: null, output_tokens: 3 };
    assert.deepEqual(
      usageOf({ input_tokens: 10, cache_read_input_tokens: 4 }, last),
      toUsage({ input: 16, cached: 4, output: 3 }),
    );
  });

  it("includes the compactions, which are not counted elsewhere", () => {
    const iterations = [
      { type: "compaction", input_tokens: 100, output_tokens: 50 },
      { type: "message", input_tokens: 10, output_tokens: 5 },
    ];
    assert.deepEqual(
      usageOf({ input_tokens: 10 }, { output_tokens: 5, iterations }),
      toUsage({ input: 110, output: 55 }),
    );
  });
});
