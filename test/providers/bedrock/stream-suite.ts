import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type JsonObject, parseJson } from "../../../src/base/json.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { assertEventOrder } from "../event-order.ts";
import { endOf, itemsOf, type StreamFolder } from "../streams.ts";
import { blocksOf, CLAUDE, decodeFrames, decodeWhole, toFrames } from "./converse.ts";
import { blocksIn, joinBlocks } from "./expected-blocks.ts";

/**
 * Tests for every stream and answer of this wire, from any source. `kinds` names the items that some of
 * them decode to.
 */
export function describeBedrockStreams(
  title: string,
  { streams, answers }: StreamFolder,
  kinds: Readonly<Record<string, readonly string[]>>,
): void {
  describe(title, () => {
    it("the recorded streams exist", () => {
      const names = [...streams, ...answers].map(({ name }) => name);
      assert.ok(streams.length > 0 && answers.length > 0);
      assert.deepEqual(
        Object.keys(kinds).filter((name) => !names.includes(name)),
        [],
      );
    });

    for (const { name, lines } of streams) {
      const sent = lines.map((line) => parseJson(line, name) as JsonObject);

      it(`decode to the same events however they are split: ${name}`, () => {
        const body = toFrames(sent);
        const events = decodeFrames(body, { model: CLAUDE });
        for (const pieceBytes of [1, 2, 7, 64]) {
          const again = decodeFrames(body, { model: CLAUDE }, pieceBytes);
          assert.deepEqual(again, events, `${pieceBytes}`);
        }
      });

      it(`decode to complete items, and lose nothing when they are sent back: ${name}`, () => {
        const events = decodeFrames(toFrames(sent), { model: CLAUDE });
        assertWhole(events, sent, kinds[name]);
        assert.deepEqual(blocksOf(itemsOf(events), CLAUDE), joinBlocks(sent));
      });
    }

    for (const { name, body } of answers) {
      it(`decode an answer that was not streamed, and lose nothing of it: ${name}`, () => {
        const events = decodeWhole(body, { model: CLAUDE });
        assertWhole(events, [JSON.parse(body)], kinds[name]);
        assert.deepEqual(blocksOf(itemsOf(events), CLAUDE), blocksIn(JSON.parse(body)));
      });
    }
  });
}

/** `sent` is the events of a stream, or one whole answer, in which the fields have the same names. */
function assertWhole(
  events: readonly ModelEvent[],
  sent: readonly JsonObject[],
  kinds: readonly string[] | undefined,
): void {
  assertEventOrder(events);
  const types = itemsOf(events).map(({ type }) => type);
  assert.ok(types.length > 0);
  assert.deepEqual(types, kinds ?? types);
  const { reason, usage } = endOf(events);
  const stopReason = findField(sent, "stopReason");
  assert.equal(typeof stopReason, "string");
  assert.equal(reason, stopReason === "tool_use" ? "tool_calls" : "stop");
  const counted = findField(sent, "usage");
  const total = isJsonObject(counted) ? counted["totalTokens"] : 0;
  assert.equal(usage.total_tokens, total);
}

/** The value of a field of the events, or of the objects in them. */
function findField(sent: readonly JsonObject[], name: string): unknown {
  const all = sent.flatMap((event) => [event, ...Object.values(event).filter(isJsonObject)]);
  return all.find((object) => name in object)?.[name];
}
