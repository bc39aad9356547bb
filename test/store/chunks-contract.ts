/** What every `ChunkStore` must do. Each implementation calls this from its own test file. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ChunkStore, Term } from "../../src/store/chunk-store.ts";

const word = (text: string, prefix = false): Term => ({ kind: "word", text, prefix });
const plain = (...texts: string[]) => texts.map((text) => ({ text, embedding: null }));
const at = (file: string, store = "vs_1", tenant = "t") => ({ tenant, store, file });
const STORE = { tenant: "t", store: "vs_1" };

async function texts(chunks: ChunkStore, terms: readonly Term[], place = STORE, files?: string[]) {
  const found = await chunks.findByWords({ ...place, terms, files, limit: 10 });
  return found.map(({ text }) => text);
}

export function describeChunks(name: string, open: () => Promise<ChunkStore>): void {
  describe(name, () => {
    it("finds chunks by their words, without case and accents, of one store and tenant alone", async () => {
      const chunks = await open();
      await chunks.put(at("f"), 0, plain("Der Käfer läuft", "a dog"));
      await chunks.put(at("f", "vs_2"), 0, plain("Kafer of another store"));
      await chunks.put(at("f", "vs_1", "other"), 0, plain("Kafer of another tenant"));
      assert.deepEqual(await texts(chunks, [word("kafer")]), ["Der Käfer läuft"]);
      assert.deepEqual(await texts(chunks, [word("kaf")]), []);
      assert.deepEqual(await texts(chunks, [word("kaf", true)]), ["Der Käfer läuft"]);
    });

    it("takes any text for a word and none for syntax", async () => {
      const chunks = await open();
      await chunks.put(at("f"), 0, plain('say "hello" AND NOT text:x'));
      for (const text of ['"', '" OR "', "NEAR(", "*", "text:", "a AND", "-x", "{}", "col : y"]) {
        await texts(chunks, [word(text), word("nothing")]);
        await texts(chunks, [word(text, true)]);
      }
      assert.equal((await texts(chunks, [word('"hello"')])).length, 1);
    });

    it("finds pieces of scripts without spaces, those with more of them first", async () => {
      const chunks = await open();
      await chunks.put(at("f"), 0, plain("我们的退货流程", "我们的退货政策是三十天"));
      const pieces: Term[] = ["退货", "货政", "政策"].map((text) => ({ kind: "piece", text }));
      assert.deepEqual(await texts(chunks, pieces), ["我们的退货政策是三十天", "我们的退货流程"]);
      assert.deepEqual(await chunks.countWords(STORE, pieces), { total: 2, counts: [2, 1, 1] });
    });

    it("looks into some files alone", async () => {
      const chunks = await open();
      await chunks.put(at("a"), 0, plain("apple one"));
      await chunks.put(at("b"), 0, plain("apple two"));
      assert.deepEqual(await texts(chunks, [word("apple")], STORE, ["b"]), ["apple two"]);
      assert.deepEqual(await texts(chunks, [word("apple")], STORE, []), []);
    });

    it("replaces chunks of the same numbers, and forgets words that are gone", async () => {
      const chunks = await open();
      await chunks.put(at("f"), 0, plain("one", "two", "three"));
      await chunks.put(at("f"), 0, plain("uno", "dos"));
      const found = await texts(chunks, [word("one"), word("dos"), word("three")]);
      assert.deepEqual(found.sort(), ["dos", "three"]);
      await chunks.trim(at("f"), 2);
      assert.deepEqual(await texts(chunks, [word("three")]), []);
      await chunks.deleteStore(STORE);
      assert.deepEqual(await chunks.countWords(STORE, [word("dos")]), { total: 0, counts: [0] });
    });

    it("reads vectors page by page, of one model", async () => {
      const chunks = await open();
      const vector = (model: string, ...values: number[]) => ({
        text: "x",
        embedding: { model, vector: Float32Array.from(values) },
      });
      await chunks.put(at("b"), 0, [vector("m", 1, 2), vector("other", 9, 9), ...plain("none")]);
      await chunks.put(at("a"), 0, [vector("m", 3, 4)]);
      const first = await chunks.readVectors({
        ...{ ...STORE, model: "m", files: undefined },
        ...{ after: undefined, limit: 1 },
      });
      assert.deepEqual(
        first.map(({ file, vector: v }) => [file, ...v]),
        [["a", 3, 4]],
      );
      const rest = await chunks.readVectors({
        ...{ ...STORE, model: "m", files: undefined },
        ...{ after: first[0], limit: 10 },
      });
      assert.deepEqual(
        rest.map(({ file, vector: v }) => [file, ...v]),
        [["b", 1, 2]],
      );
      const id = rest[0]?.id ?? 0;
      assert.equal((await chunks.getChunk(STORE, id))?.file, "b");
      assert.equal(await chunks.getChunk({ tenant: "other", store: "vs_1" }, id), undefined);
    });
  });
}
