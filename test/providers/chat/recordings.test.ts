import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDecoder } from "../../../src/providers/chat/decode.ts";
import { assertEventOrder } from "../event-order.ts";
import {
  decodeAll,
  decodeBody,
  endOf,
  itemsOf,
  readRecordings,
  readWholeAnswers,
  toSseBody,
} from "../recordings.ts";

describe("chat recordings", () => {
  const kinds: Readonly<Record<string, readonly string[]>> = {
    "alibaba-reasoning.jsonl": ["reasoning", "message"],
    "azure-deepseek-reasoning.1.jsonl": ["reasoning", "message"],
    "deepseek-tool-call.jsonl": ["reasoning", "function_call"],
    "groq-reasoning.jsonl": ["reasoning", "message"],
    "groq-tool-call.jsonl": ["function_call"],
    "mistral-incremental-tool-call.jsonl": ["function_call"],
    "moonshotai-stream.jsonl": ["reasoning", "message"],
  };
  for (const { name, lines } of readRecordings("chat")) {
    it(`decode to the same events however they are cut: ${name}`, () => {
      const body = toSseBody(lines);
      const events = decodeBody(createDecoder(), body);
      assertEventOrder(events);
      for (const pieceBytes of [1, 2, 7, 64]) {
        assert.deepEqual(decodeBody(createDecoder(), body, pieceBytes), events, `${pieceBytes}`);
      }
      const done = toSseBody([...lines, "[DONE]"]);
      assert.deepEqual(decodeBody(createDecoder(), done), events);
    });

    it(`decode to whole items and count their tokens: ${name}`, () => {
      const events = decodeBody(createDecoder(), toSseBody(lines));
      const items = itemsOf(events);
      assert.deepEqual(
        items.map(({ type }) => type),
        kinds[name] ?? items.map(({ type }) => type),
      );
      for (const item of items) {
        if (item.type === "function_call") assert.doesNotThrow(() => JSON.parse(item.arguments));
      }
      const { usage, reason } = endOf(events);
      assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
      assert.equal(reason, items.at(-1)?.type === "function_call" ? "tool_calls" : "stop");
    });
  }

  for (const { name, body } of readWholeAnswers("chat")) {
    if (name.includes("error")) {
      it(`fail as the server says: ${name}`, () => {
        const failure = { code: "provider_failed", vendorCode: "unsupported_parameter" };
        assert.throws(() => decodeAll(createDecoder(), JSON.parse(body)), failure);
      });
      continue;
    }
    it(`decode an answer that was not streamed: ${name}`, () => {
      const events = decodeAll(createDecoder(), JSON.parse(body));
      assertEventOrder(events);
      assert.ok(itemsOf(events).length > 0);
      assert.ok(endOf(events).usage.output_tokens > 0);
    });
  }
});
