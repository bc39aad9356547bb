import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createDecoder } from "../../../src/providers/messages/decode.ts";
import { encodeConversation } from "../../../src/providers/messages/turns.ts";
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

/** Two answers joined into one by a server in between; the first was cut. */
const SPLICED = "spliced-message-start.jsonl";

/** The blocks of the first answer of a stream, put together without the decoder. */
function blocksOf(lines: readonly string[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  const inputs: string[] = [];
  for (const line of lines) {
    const event = JSON.parse(line);
    if (event.type === "content_block_start") blocks[event.index] = { ...event.content_block };
    if (event.type === "content_block_delta") {
      const { type: _, partial_json, ...texts } = event.delta;
      if (partial_json) inputs[event.index] = (inputs[event.index] ?? "") + partial_json;
      const block = blocks[event.index] ?? {};
      const grown = Object.entries(texts).map(([name, text]) => [
        name,
        `${block[name] ?? ""}${text}`,
      ]);
      blocks[event.index] = { ...block, ...Object.fromEntries(grown) };
    }
    if (event.type === "message_stop") break;
  }
  return blocks.map((block, index) =>
    inputs[index] ? { ...block, input: JSON.parse(inputs[index]) } : block,
  );
}

/** The assistant's turn that the items become, with a question before it. */
function sentBack(items: readonly Item[]): readonly JsonObject[] {
  const question: Item = { type: "message", role: "user", content: "Go." };
  const { turns } = encodeConversation([question, ...items]);
  return (turns[1]?.content ?? []) as unknown as JsonObject[];
}

/** What the API takes back: no empty text, no note that a call was a direct one. */
function accepted(blocks: readonly JsonObject[]): JsonObject[] {
  return blocks
    .filter(({ type, text }) => type !== "text" || text !== "")
    .map((block) => {
      const { caller, ...rest } = block as { caller?: JsonObject };
      const isDirect = rest["type" as never] === "tool_use" && caller?.["type"] === "direct";
      return isDirect ? rest : block;
    });
}

function assertSentBack(events: readonly ModelEvent[], blocks: readonly JsonObject[]): void {
  if (endOf(events).reason === "refusal") return;
  assert.deepEqual(sentBack(itemsOf(events)), accepted(blocks));
}

describe("recordings of the Messages API", () => {
  const kinds: Readonly<Record<string, readonly string[]>> = {
    "anthropic-combined-context-editing.1.jsonl": ["reasoning", "message"],
    "anthropic-json-tool.2.jsonl": ["message", "function_call"],
    "anthropic-mcp.1.jsonl": ["anthropic:mcp_tool_use", "anthropic:mcp_tool_result", "message"],
    "anthropic-refusal.jsonl": ["message"],
    "duplicate-message-start.jsonl": ["message"],
  };
  const recordings = readRecordings("messages");

  for (const { name, lines } of recordings.filter((recording) => recording.name !== SPLICED)) {
    it(`decode to the same events however they are cut: ${name}`, () => {
      const body = toSseBody(lines);
      const events = decodeBody(createDecoder(), body);
      assertEventOrder(events);
      for (const pieceBytes of [1, 2, 7, 64]) {
        assert.deepEqual(decodeBody(createDecoder(), body, pieceBytes), events, `${pieceBytes}`);
      }
    });

    it(`decode to whole items and count their tokens: ${name}`, () => {
      const events = decodeBody(createDecoder(), toSseBody(lines));
      const items = itemsOf(events);
      const types = items.map(({ type }) => type);
      assert.deepEqual(types, kinds[name] ?? types);
      for (const item of items) {
        if (item.type === "function_call") assert.ok(isJsonObject(JSON.parse(item.arguments)));
      }
      const { usage } = endOf(events);
      assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
    });

    it(`go back to the server as they came: ${name}`, () => {
      assertSentBack(decodeBody(createDecoder(), toSseBody(lines)), blocksOf(lines));
    });
  }

  for (const { name, lines } of recordings.filter((recording) => recording.name === SPLICED)) {
    it(`fail where no answer can be made of them: ${name}`, () => {
      for (const pieceBytes of [1, 2, 7, 64, undefined]) {
        assert.throws(() => decodeBody(createDecoder(), toSseBody(lines), pieceBytes), {
          code: "provider_broke_protocol",
        });
      }
    });
  }

  for (const { name, body } of readWholeAnswers("messages")) {
    it(`decode an answer that was not streamed: ${name}`, () => {
      const answer = JSON.parse(body);
      const events = decodeAll(createDecoder(), answer);
      assertEventOrder(events);
      assert.ok(endOf(events).usage.output_tokens > 0);
      assertSentBack(events, answer.content);
    });
  }
});
