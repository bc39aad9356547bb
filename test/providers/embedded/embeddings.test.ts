/** The embedder of this process: its vectors for long texts, and how long it blocks others. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEmbeddedEmbeddings } from "../../../src/providers/embedded/embeddings.ts";
import { patience } from "../../patience.ts";

const SENTENCE = "The cat sat on the mat, ärgerlich und müde 🐈. ";

async function embed(text: string, signal: AbortSignal = patience()) {
  let tokens = 0;
  const told = (_: unknown, counted = 0): void => {
    tokens += counted;
  };
  const [vector = []] = await createEmbeddedEmbeddings().embed({ input: [text] }, { signal, told });
  return { vector, tokens };
}

describe("the embedded embedder", () => {
  it("lets the event loop run while it reads a long text", async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await embed(SENTENCE.repeat(20_000));
    isOver = true;
    assert.ok(turns > 20, `${turns} turns`);
  });

  it("counts and weighs a long text like its parts: no word is lost or cut", async () => {
    const once = await embed(SENTENCE);
    const often = await embed(SENTENCE.repeat(3000));
    assert.equal(often.tokens, once.tokens * 3000);
    const alike = often.vector.reduce((sum, value, at) => sum + value * (once.vector[at] ?? 0), 0);
    assert.ok(Math.abs(alike - 1) < 1e-4, `${alike}`);
  });

  it("reads a text without white space too, in pieces that keep its characters whole", async () => {
    const cats = await embed("🐈".repeat(40_000));
    assert.equal(cats.vector.length, 256);
    const word = await embed("a".repeat(100_000));
    assert.ok(word.tokens >= 25_000);
  });

  it("stops for a client that has disconnected", async () => {
    const leaving = new AbortController();
    setImmediate(() => leaving.abort());
    await assert.rejects(embed(SENTENCE.repeat(20_000), leaving.signal), { code: "cancelled" });
  });
});
