import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import { isJsonObject, type JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createDecoder } from "../../../src/providers/messages/decode.ts";
import { encodeConversation } from "../../../src/providers/messages/turns.ts";
import { assertEventOrder } from "../event-order.ts";
import { assertDeltas } from "../said-deltas.ts";
import { decodeAll, decodeBody, endOf, itemsOf, type StreamFolder, toSseBody } from "../streams.ts";

/** Facts about single files of a folder, by their names. */
export interface MessagesFacts {
  /** The types of the items that a stream decodes to. */
  readonly kinds: Readonly<Record<string, readonly string[]>>;
  /** Streams and answers that fail, and how. */
  readonly failing: Readonly<Record<string, FailureCode>>;
}

/** Tests for every stream and answer of this wire, from any source. */
export function describeMessagesStreams(
  title: string,
  { streams, answers }: StreamFolder,
  { kinds, failing }: MessagesFacts,
): void {
  describe(title, () => {
    it("the recorded streams exist", () => {
      const names = new Set([...streams, ...answers].map(({ name }) => name));
      assert.ok(streams.length > 0 && answers.length > 0);
      const missing = Object.keys({ ...kinds, ...failing }).filter((name) => !names.has(name));
      assert.deepEqual(missing, []);
    });

    for (const { name, lines } of streams) {
      const body = toSseBody(lines);
      const code = failing[name];
      if (code !== undefined) {
        it(`fail, however they are split: ${name}`, () => {
          for (const pieceBytes of [1, 2, 7, 64, body.length]) {
            assert.throws(() => decodeBody(createDecoder(), body, pieceBytes), { code });
          }
        });
        continue;
      }

      it(`decode to the same events however they are split: ${name}`, () => {
        const events = decodeBody(createDecoder(), body);
        assertEventOrder(events);
        assertDeltas(events);
        for (const pieceBytes of [1, 2, 7, 64]) {
          assert.deepEqual(decodeBody(createDecoder(), body, pieceBytes), events, `${pieceBytes}`);
        }
      });

      it(`decode to complete items and count their tokens: ${name}`, () => {
        const events = decodeBody(createDecoder(), body);
        const items = itemsOf(events);
        const types = items.map(({ type }) => type);
        assert.deepEqual(types, kinds[name] ?? types);
        for (const item of items) {
          if (item.type === "function_call") assert.ok(isJsonObject(JSON.parse(item.arguments)));
        }
        const { usage } = endOf(events);
        assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
      });

      it(`are sent back to the server unchanged: ${name}`, () => {
        assertSentBack(decodeBody(createDecoder(), body), blocksOf(lines));
      });
    }

    for (const { name, body } of answers) {
      const answer = JSON.parse(body);
      const code = failing[name];
      if (code !== undefined) {
        it(`fail with the server's message: ${name}`, () => {
          assert.throws(() => decodeAll(createDecoder(), answer), { code });
        });
        continue;
      }
      it(`decode an answer that was not streamed: ${name}`, () => {
        const events = decodeAll(createDecoder(), answer);
        assertEventOrder(events);
        assertDeltas(events);
        assert.ok(endOf(events).usage.output_tokens > 0);
        assertSentBack(events, answer.content);
      });
    }
  });
}

/** A refusal is not sent back: it is not what the model wrote. */
function assertSentBack(events: readonly ModelEvent[], blocks: readonly JsonObject[]): void {
  if (endOf(events).reason === "refusal") return;
  assert.deepEqual(sentBack(itemsOf(events)), accepted(blocks));
}

/** The assistant's turn of these items, with a question before it. */
function sentBack(items: readonly Item[]): readonly JsonObject[] {
  const question: Item = { type: "message", role: "user", content: "Go." };
  const { turns } = encodeConversation([question, ...items]);
  return (turns[1]?.content ?? []) as unknown as JsonObject[];
}

/** The blocks of the first answer of a stream, joined without the decoder. */
function blocksOf(lines: readonly string[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  const inputs: string[] = [];
  for (const line of lines) {
    const event = JSON.parse(line);
    if (event.type === "content_block_start") blocks[event.index] = { ...event.content_block };
    if (event.type === "content_block_delta") {
      const { type: _, partial_json, ...more } = event.delta;
      if (partial_json) inputs[event.index] = (inputs[event.index] ?? "") + partial_json;
      blocks[event.index] = grown(blocks[event.index] ?? {}, more);
    }
    if (event.type === "message_stop") break;
  }
  return blocks.map((block, index) =>
    inputs[index] ? { ...block, input: JSON.parse(inputs[index]) } : block,
  );
}

function grown(block: JsonObject, { citation, ...texts }: JsonObject): JsonObject {
  const longer = Object.entries(texts).map(([name, text]) => [name, `${block[name] ?? ""}${text}`]);
  const before = Array.isArray(block["citations"]) ? block["citations"] : [];
  const citations = citation === undefined ? {} : { citations: [...before, citation] };
  return { ...block, ...Object.fromEntries(longer), ...citations };
}

/** The blocks in the form that the API accepts: no empty text, and not every field that it sends. */
function accepted(blocks: readonly JsonObject[]): JsonObject[] {
  return blocks
    .filter(({ type, text }) => type !== "text" || text !== "")
    .map((block) => {
      if (block["type"] === "text") return acceptedText(block);
      return block["type"] === "tool_use" ? acceptedCall(block) : block;
    });
}

/** The API refuses the name of a cited file, and an empty list of citations. */
function acceptedText({ citations, ...text }: JsonObject): JsonObject {
  if (!Array.isArray(citations) || citations.length === 0) return text;
  return {
    ...text,
    citations: citations.map((citation) => {
      const { file_id: _, ...rest } = citation as JsonObject;
      return rest;
    }),
  };
}

/** The API assumes that a call was a direct one. */
function acceptedCall(call: JsonObject): JsonObject {
  const { caller, ...rest } = call;
  return isJsonObject(caller) && caller["type"] === "direct" ? rest : call;
}
