import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type JsonObject } from "../../../src/base/json.ts";
import { listShared, readShared } from "../../protocol/shared-files.ts";
import { assertEventOrder } from "../event-order.ts";
import { endOf, itemsOf } from "../recordings.ts";
import { blocksOf, CLAUDE, decodeFrames, decodeWhole, joinBlocks, toFrames } from "./converse.ts";

const FOLDER = "recordings/bedrock";
const names = listShared(FOLDER);

const read = (name: string): JsonObject[] => {
  const lines = readShared(`${FOLDER}/${name}`).split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
};

describe("bedrock recordings", () => {
  it("are there", () => assert.ok(names.length > 8));

  for (const name of names.filter((file) => file.endsWith(".jsonl"))) {
    it(`decode to the same events however they are cut: ${name}`, () => {
      const body = toFrames(read(name));
      const events = decodeFrames(body, { model: CLAUDE });
      assertEventOrder(events);
      for (const pieceBytes of [1, 2, 7, 64]) {
        const again = decodeFrames(body, { model: CLAUDE }, pieceBytes);
        assert.deepEqual(again, events, `${pieceBytes}`);
      }
    });

    it(`lose nothing when they go back as history: ${name}`, () => {
      const recorded = read(name);
      const items = itemsOf(decodeFrames(toFrames(recorded), { model: CLAUDE }));
      assert.deepEqual(blocksOf(items, CLAUDE), joinBlocks(recorded));
    });

    it(`say how they end: ${name}`, () => {
      const recorded = read(name);
      const { reason, usage } = endOf(decodeFrames(toFrames(recorded), { model: CLAUDE }));
      const text = JSON.stringify(recorded);
      assert.equal(reason, text.includes('"stopReason":"tool_use"') ? "tool_calls" : "stop");
      assert.equal(usage.output_tokens > 0, text.includes('"outputTokens"'));
    });
  }

  for (const name of names.filter((file) => file.endsWith(".json"))) {
    it(`decode an answer that was not streamed, and lose nothing of it: ${name}`, () => {
      const text = readShared(`${FOLDER}/${name}`);
      const events = decodeWhole(text, { model: CLAUDE });
      assertEventOrder(events);
      assert.ok(endOf(events).usage.output_tokens > 0);
      assert.deepEqual(blocksOf(itemsOf(events), CLAUDE), contentOf(JSON.parse(text)));
    });
  }
});

/** The recorded blocks, without the `type` that some of them were given by hand. */
function contentOf(answer: { output: { message: { content: JsonObject[] } } }): JsonObject[] {
  return answer.output.message.content.map(({ type: _, ...block }) => {
    assert.ok(isJsonObject(block));
    return block;
  });
}
