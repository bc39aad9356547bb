/** Sources that come when no text is open: beside a picture, or before the text. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDecoder } from "../../../src/providers/gemini/decode.ts";
import { assertEventOrder } from "../event-order.ts";
import { decodeAll, itemsOf } from "../streams.ts";

const IMAGE = { inlineData: { mimeType: "image/png", data: "AAAA" }, thoughtSignature: "s9" };
const GROUNDED = {
  groundingMetadata: {
    groundingChunks: [{ web: { uri: "https://x.example", title: "X" } }],
    groundingSupports: [{ segment: { endIndex: 3 }, groundingChunkIndices: [0] }],
  },
};
const STOP = { finishReason: "STOP" };
const CITED = { type: "url_citation", url: "https://x.example", title: "X" };

const chunk = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ content: { parts }, ...more }],
});

/** The items in short: the text with its sources, or the type. */
function decode(...chunks: readonly object[]): unknown[] {
  const events = decodeAll(createDecoder({ items: [] }), ...chunks);
  assertEventOrder(events);
  const told = events.flatMap((event) => (event.type === "annotation" ? [event.annotation] : []));
  const items = itemsOf(events);
  const parts = items.flatMap((item) =>
    item.type === "message" && typeof item.content !== "string" ? item.content : [],
  );
  const kept = parts.flatMap((part) => (part.type === "output_text" ? part.annotations : []));
  assert.deepEqual(told, kept);
  return items.map((item) =>
    item.type === "message" && typeof item.content !== "string"
      ? item.content.map((part) => part.type === "output_text" && [part.text, part.annotations])
      : [item.type],
  );
}

const placed = (end_index: number) => ({ ...CITED, start_index: 0, end_index });

describe("sources of gemini outside of a text", () => {
  it("belong to the text before the picture with which they come", () => {
    const expected = [[["A dot", [placed(3)]]], ["image_generation_call"]];
    const said = chunk([{ text: "A dot" }]);
    assert.deepEqual(decode(said, chunk([IMAGE], { ...GROUNDED, ...STOP })), expected);
    assert.deepEqual(decode(said, chunk([IMAGE]), chunk([], { ...GROUNDED, ...STOP })), expected);
  });

  it("belong to a signed text too, whose signature stays after it", () => {
    const said = chunk([{ text: "A dot", thoughtSignature: "s1" }]);
    assert.deepEqual(decode(said, chunk([IMAGE], { ...GROUNDED, ...STOP })), [
      [["A dot", [placed(3)]]],
      ["reasoning"],
      ["image_generation_call"],
    ]);
  });

  it("belong to the text after the picture if there is one", () => {
    const events = [chunk([{ text: "A dot" }]), chunk([IMAGE]), chunk([{ text: "there" }])];
    assert.deepEqual(decode(...events, chunk([], { ...GROUNDED, ...STOP })), [
      [["A dot", []]],
      ["image_generation_call"],
      [["there", [placed(3)]]],
    ]);
  });

  it("wait for the text if they come before it", () => {
    const thought = chunk([{ text: "Hm.", thought: true }], GROUNDED);
    assert.deepEqual(decode(thought, chunk([{ text: "A dot" }], STOP)), [
      ["reasoning"],
      [["A dot", [placed(3)]]],
    ]);
  });

  it("are in a message of their own, without ranges, if the answer has no text", () => {
    assert.deepEqual(decode(chunk([IMAGE], { ...GROUNDED, ...STOP })), [
      ["image_generation_call"],
      [["", [CITED]]],
    ]);
  });
});
