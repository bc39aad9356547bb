import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JsonObject, parseJson } from "../../../src/base/json.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createDecoder } from "../../../src/providers/chat/decode.ts";
import { assertEventOrder } from "../event-order.ts";
import { decodeAll, decodeBody, endOf, itemsOf, type StreamFolder, toSseBody } from "../streams.ts";
import { expectedWords, type SentChunk, wordsOf } from "./expected-words.ts";

/**
 * Tests for every stream and answer of this wire, from any source. `kinds` names the items that some of
 * them decode to. An answer with `error` in its name is a refused request.
 */
export function describeChatStreams(
  title: string,
  { streams, answers }: StreamFolder,
  kinds: Readonly<Record<string, readonly string[]>>,
): void {
  describe(title, () => {
    it("the recorded streams exist", () => {
      const names = [...streams, ...answers].map(({ name }) => name);
      assert.ok(streams.length > 0);
      assert.deepEqual(
        Object.keys(kinds).filter((name) => !names.includes(name)),
        [],
      );
    });

    for (const { name, lines } of streams) {
      it(`decode to the same events however they are split: ${name}`, () => {
        const body = toSseBody(lines);
        const events = decodeBody(createDecoder(), body);
        for (const pieceBytes of [1, 2, 7, 64]) {
          assert.deepEqual(decodeBody(createDecoder(), body, pieceBytes), events, `${pieceBytes}`);
        }
        const done = toSseBody([...lines, "[DONE]"]);
        assert.deepEqual(decodeBody(createDecoder(), done), events);
      });

      it(`decode to complete items and count their tokens: ${name}`, () => {
        const events = decodeBody(createDecoder(), toSseBody(lines));
        const chunks = lines.map((line) => parseJson(line, name) as SentChunk);
        assertWhole(events, chunks, kinds[name]);
      });
    }

    for (const { name, body } of answers) {
      if (name.includes("error")) {
        it(`fail with the server's message: ${name}`, () => {
          const failure = { code: "provider_failed", vendorCode: "unsupported_parameter" };
          assert.throws(() => decodeAll(createDecoder(), JSON.parse(body)), failure);
        });
        continue;
      }
      it(`decode an answer that was not streamed: ${name}`, () => {
        const whole = parseJson(body, name) as JsonObject & SentChunk;
        assertWhole(decodeAll(createDecoder(), whole), [whole], kinds[name]);
      });
    }
  });
}

function assertWhole(
  events: readonly ModelEvent[],
  chunks: readonly SentChunk[],
  kinds: readonly string[] | undefined,
): void {
  assertEventOrder(events);
  const items = itemsOf(events);
  const types = items.map(({ type }) => type);
  assert.ok(types.length > 0);
  assert.deepEqual(types, kinds ?? types);
  assert.deepEqual(wordsOf(items), expectedWords(chunks));
  for (const item of items) {
    if (item.type === "function_call") assert.doesNotThrow(() => JSON.parse(item.arguments));
  }
  const { usage, reason } = endOf(events);
  assert.equal(reason, types.at(-1) === "function_call" ? "tool_calls" : "stop");
  assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
  assert.equal(usage.total_tokens, chunks.findLast((chunk) => chunk.usage)?.usage?.total_tokens);
}
