import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JsonObject, parseJson } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createDecoder } from "../../../src/providers/gemini/decode.ts";
import { geminiWire } from "../../../src/providers/gemini/wire.ts";
import { assertEventOrder } from "../event-order.ts";
import { request } from "../provider-contract.ts";
import { decodeAll, decodeBody, endOf, itemsOf, type StreamFolder, toSseBody } from "../streams.ts";
import { expectedParts, type SentChunk } from "./expected-parts.ts";

const QUESTION: Item = { type: "message", role: "user", content: "Hello" };

const createFresh = () => createDecoder({ items: [QUESTION] });

/**
 * Tests for every stream and answer of this wire, from any source. `kinds` names the items that some of
 * them decode to. An answer with an `error` is a refused request.
 */
export function describeGeminiStreams(
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
        const events = decodeBody(createFresh(), body);
        for (const pieceBytes of [1, 2, 7, 64]) {
          assert.deepEqual(decodeBody(createFresh(), body, pieceBytes), events, `${pieceBytes}`);
        }
        const list = `[${lines.join(",")}]`;
        assert.deepEqual(decodeAll(createFresh(), list), events, "as one list");
      });

      it(`decode to complete items, and are sent back part for part: ${name}`, () => {
        const events = decodeBody(createFresh(), toSseBody(lines));
        const chunks = lines.map((line) => parseJson(line, name) as SentChunk);
        assertWhole(events, chunks, kinds[name]);
      });
    }

    for (const { name, body } of answers) {
      const whole = parseJson(body, name) as JsonObject & SentChunk;
      if (whole["error"]) {
        it(`fail with the server's message: ${name}`, () => {
          assert.throws(() => decodeAll(createFresh(), whole), { code: "provider_overloaded" });
        });
        continue;
      }
      it(`decode an answer that was not streamed, and are sent back: ${name}`, () => {
        assertWhole(decodeAll(createFresh(), whole), [whole], kinds[name]);
      });
    }
  });
}

/** Checks the events against a separate, slower reading of the same chunks. */
function assertWhole(
  events: readonly ModelEvent[],
  chunks: readonly SentChunk[],
  kinds: readonly string[] | undefined,
): void {
  assertEventOrder(events);
  const items = itemsOf(events);
  const types = items.map(({ type }) => type);
  assert.deepEqual(types, kinds ?? types);
  assert.deepEqual(partsOf(items, chunks[0]?.modelVersion ?? ""), expectedParts(chunks));
  assertArguments(events);
  const { usage, reason } = endOf(events);
  assert.equal(reason, types.includes("function_call") ? "tool_calls" : "stop");
  assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
  assert.equal(usage.total_tokens, chunks.at(-1)?.usageMetadata?.totalTokenCount);
}

/** The parts of these items as history. */
function partsOf(items: readonly Item[], model: string): readonly JsonObject[] {
  const body = geminiWire.encode(request({ model, items: [QUESTION, ...items] }), {});
  const contents = body["contents"] as readonly { role: string; parts: readonly JsonObject[] }[];
  return contents.filter(({ role }) => role === "model").flatMap(({ parts }) => parts);
}

function assertArguments(events: readonly ModelEvent[]): void {
  const items = itemsOf(events);
  const calls = items.filter((item) => item.type === "function_call");
  assert.equal(new Set(calls.map(({ call_id }) => call_id)).size, calls.length);
  for (const [index, item] of items.entries()) {
    const deltas = events.flatMap((event) =>
      event.type === "arguments_delta" && event.index === index ? [event.delta] : [],
    );
    if (item.type === "function_call") assert.equal(deltas.join(""), item.arguments);
  }
}
