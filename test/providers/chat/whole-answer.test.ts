/** Chat answers in one piece, and the data beside the text of any answer. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FunctionCall } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createDecoder } from "../../../src/providers/chat/decode.ts";
import { assertEventOrder } from "../event-order.ts";
import { decodeAll, endOf, itemsOf } from "../streams.ts";

function decode(...payloads: readonly (object | string)[]): ModelEvent[] {
  const events = decodeAll(createDecoder(), ...payloads);
  assertEventOrder(events);
  return events;
}

const whole = (message: object, more: object = {}): object => ({
  id: "c1",
  model: "m1",
  choices: [{ index: 0, message, finish_reason: "stop", ...more }],
  usage: { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 4 },
});

describe("a chat answer in one piece", () => {
  it("keeps calls apart that have neither an index nor an id", () => {
    const call = (city: string) => ({
      function: { name: "weather", arguments: `{"c":"${city}"}` },
    });
    const events = decode(whole({ tool_calls: [call("Oslo"), call("Köln")] }));
    const calls = itemsOf(events) as FunctionCall[];
    assert.deepEqual(
      calls.map((made) => made.arguments),
      ['{"c":"Oslo"}', '{"c":"Köln"}'],
    );
    assert.equal(new Set(calls.map((made) => made.call_id)).size, 2);
    assert.equal(endOf(events).reason, "tool_calls");
  });

  it("counts the tokens from the cache that a vendor reports at the top level", () => {
    const { usage } = endOf(decode(whole({ content: "Hi" })));
    assert.equal(usage.input_tokens_details.cached_tokens, 4);
  });
});

describe("probabilities of a chat answer", () => {
  const likely = (token: string) => ({ token, logprob: -1, bytes: null, top_logprobs: [] });
  const chunk = (delta: object, logprobs: object | null, finish_reason: string | null = null) => ({
    id: "c1",
    choices: [{ index: 0, delta, logprobs, finish_reason }],
  });

  it("of half a character are kept with the text", () => {
    const events = decode(
      chunk({ content: "a" }, { content: [likely("a")] }),
      chunk({ content: "" }, { content: [likely("\\xf0")] }),
      chunk({ content: "👋" }, { content: [likely("\\x9f")] }, "stop"),
      "[DONE]",
    );
    const [message] = itemsOf(events);
    const content = message?.type === "message" ? message.content : [];
    assert.deepEqual(content, [
      {
        type: "output_text",
        text: "a👋",
        annotations: [],
        logprobs: ["a", "\\xf0", "\\x9f"].map(likely),
      },
    ]);
  });

  it("of calls do not belong to a text", () => {
    const call = { index: 0, id: "a", function: { name: "f", arguments: "{}" } };
    const events = decode(
      chunk({ tool_calls: [call] }, { content: [likely("{}")] }, "tool_calls"),
      "[DONE]",
    );
    assert.deepEqual(
      itemsOf(events).map(({ type }) => type),
      ["function_call"],
    );
  });
});
