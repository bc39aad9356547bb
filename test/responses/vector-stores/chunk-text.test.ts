import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  chunkText,
  estimateTokens,
  toChunking,
  USUAL_CHUNKING,
} from "../../../src/responses/vector-stores/chunk-text.ts";

const chunking = (max: number, overlap: number) => ({
  max_chunk_size_tokens: max,
  chunk_overlap_tokens: overlap,
});
const cut = (text: string, max: number, overlap: number): string[] => [
  ...chunkText(text, chunking(max, overlap)),
];

describe("chunks of a text", () => {
  it("are one for a short text and none for an empty one", () => {
    assert.deepEqual(cut("Hello there.", 100, 50), ["Hello there."]);
    assert.deepEqual(cut(" \n ", 100, 50), []);
  });

  it("end at paragraphs where one is near", () => {
    const paragraph = `${"Some words of a sentence. ".repeat(9).trim()}`;
    const text = [paragraph, paragraph, paragraph].join("\n\n");
    const size = Math.ceil(estimateTokens(paragraph));
    assert.deepEqual(cut(text, Math.ceil(size * 1.5), 0), [paragraph, paragraph, paragraph]);
  });

  it("repeat the end of the one before, up to the overlap", () => {
    const words = Array.from({ length: 400 }, (_, at) => `word${at}`);
    const chunks = cut(words.join(" "), 100, 40);
    assert.ok(chunks.length > 3);
    for (const [at, chunk] of chunks.slice(1).entries()) {
      const first = chunk.split(" ")[0] ?? "";
      const before = chunks[at] ?? "";
      assert.ok(before.split(" ").includes(first), `${first} is not in the chunk before`);
      assert.ok(estimateTokens(before.slice(before.indexOf(first))) <= 41);
    }
  });

  it("lose no word, keep to their size and always advance", () => {
    const texts = fc.array(
      fc.oneof(
        fc.string({ maxLength: 40 }),
        fc.constantFrom("\n", "\n\n", ". ", "退货政策。", "x".repeat(900), "🙂".repeat(60)),
      ),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 50 }), (pieces, overlap) => {
        const text = pieces.join("");
        const chunks = cut(text, 100, overlap);
        for (const chunk of chunks) {
          assert.ok(estimateTokens(chunk) <= 126, String(estimateTokens(chunk)));
          assert.ok(text.includes(chunk));
          assert.ok(!/\p{Surrogate}/u.test(chunk) || /\p{Surrogate}/u.test(text));
        }
        const words = text.split(/\s+/u).filter((word) => word !== "" && word.length < 20);
        for (const word of words)
          assert.ok(
            chunks.some((chunk) => chunk.includes(word)),
            word,
          );
      }),
      { numRuns: 100 },
    );
  });

  it("are made one after the other", () => {
    const text = "word ".repeat(2_000_000);
    const [first] = chunkText(text, USUAL_CHUNKING);
    assert.ok((first ?? "").length < 4000);
  });

  it("have the usual size unless a static strategy says another", () => {
    assert.deepEqual(toChunking(undefined), USUAL_CHUNKING);
    assert.deepEqual(toChunking({ type: "auto" }), USUAL_CHUNKING);
    assert.deepEqual(toChunking({ type: "static", static: chunking(200, 10) }), chunking(200, 10));
  });
});
