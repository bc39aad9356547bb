/** What every `ChunkStore` must do. Each implementation calls this from its own test file. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ChunkStore, Nearest, SearchTerm, VectorSearch } from "../../src/store/chunk-store.ts";

const word = (text: string, prefix = false): SearchTerm => ({ kind: "word", text, prefix });
const plain = (...texts: string[]) => texts.map((text) => ({ text, embedding: null }));
const at = (file: string, store = "vs_1", tenant = "t") => ({ tenant, store, file });
const STORE = { tenant: "t", store: "vs_1" };

async function texts(
  chunks: ChunkStore,
  terms: readonly SearchTerm[],
  place = STORE,
  files?: string[],
) {
  const weights = terms.map(() => 1);
  const found = await chunks.findByWords({ ...place, terms, weights, files, limit: 10 });
  return found.map(({ text }) => text);
}

interface ChunkPowers {
  /** True if the store finds vectors by itself. */
  readonly findsNearest?: boolean;
}

export function describeChunks(
  name: string,
  open: () => Promise<ChunkStore>,
  { findsNearest = false }: ChunkPowers = {},
): void {
  describe(name, () => {
    it("finds chunks by their words, without case and accents, only of one store and tenant", async () => {
      const chunks = await open();
      await chunks.put(at("f"), 0, plain("Der Käfer läuft", "a dog"));
      await chunks.put(at("f", "vs_2"), 0, plain("Kafer of another store"));
      await chunks.put(at("f", "vs_1", "other"), 0, plain("Kafer of another tenant"));
      assert.deepEqual(await texts(chunks, [word("kafer")]), ["Der Käfer läuft"]);
      assert.deepEqual(await texts(chunks, [word("kaf")]), []);
      assert.deepEqual(await texts(chunks, [word("kaf", true)]), ["Der Käfer läuft"]);
    });

    it("treats any text as a word and none as syntax", async () => {
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
      const pieces: SearchTerm[] = ["退货", "货政", "政策"].map((text) => ({
        kind: "piece",
        text,
      }));
      assert.deepEqual(await texts(chunks, pieces), ["我们的退货政策是三十天", "我们的退货流程"]);
      assert.deepEqual(await chunks.countWords(STORE, pieces), { total: 2, counts: [2, 1, 1] });
    });

    it("finds a rare word among many texts with a common one", async () => {
      const chunks = await open();
      const common = Array.from({ length: 60 }, () => "fox fox fox fox fox");
      await chunks.put(
        at("f"),
        0,
        plain(...common, "one okapi among many other words that are here"),
      );
      const terms = [word("fox"), word("okapi")];
      const { counts, total } = await chunks.countWords(STORE, terms);
      assert.deepEqual([counts, total], [[60, 1], 61]);
      const weights = counts.map((count) => Math.log(1 + (total - count + 0.5) / (count + 0.5)));
      const found = await chunks.findByWords({
        ...STORE,
        terms,
        weights,
        files: undefined,
        limit: 3,
      });
      assert.match(found[0]?.text ?? "", /okapi/);
    });

    it("searches only the given files", async () => {
      const chunks = await open();
      await chunks.put(at("a"), 0, plain("apple one"));
      await chunks.put(at("b"), 0, plain("apple two"));
      assert.deepEqual(await texts(chunks, [word("apple")], STORE, ["b"]), ["apple two"]);
      assert.deepEqual(await texts(chunks, [word("apple")], STORE, []), []);
    });

    it("replaces chunks with the same numbers, and removes their old words", async () => {
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
        ...STORE,
        model: "m",
        files: undefined,
        after: undefined,
        limit: 1,
      });
      assert.deepEqual(
        first.map(({ file, vector: v }) => [file, ...v]),
        [["a", 3, 4]],
      );
      const rest = await chunks.readVectors({
        ...STORE,
        model: "m",
        files: undefined,
        after: first[0],
        limit: 10,
      });
      assert.deepEqual(
        rest.map(({ file, vector: v }) => [file, ...v]),
        [["b", 1, 2]],
      );
      const id = rest[0]?.id ?? 0;
      assert.equal((await chunks.getChunk(STORE, id))?.file, "b");
      assert.equal(await chunks.getChunk({ tenant: "other", store: "vs_1" }, id), undefined);
    });

    if (findsNearest) describeNearest(open);
    else {
      it("reports that it finds no vectors by itself", async () => {
        const chunks = await open();
        await chunks.put(at("f"), 0, [toChunk(0)]);
        assert.equal(await chunks.findNearest(toSearch(angle(0))), undefined);
      });
    }
  });
}

/** A vector of length 1 in a plane: the likeness of two of them is the cosine of the angle between them. */
function angle(degrees: number, length = 3): Float32Array {
  const radians = (degrees * Math.PI) / 180;
  const vector = new Float32Array(length);
  vector[0] = Math.cos(radians);
  vector[length - 1] = Math.sin(radians);
  return vector;
}

function toChunk(degrees: number, { model = "m", length = 3 } = {}) {
  return { text: `at ${degrees}`, embedding: { model, vector: angle(degrees, length) } };
}

function toSearch(vector: Float32Array, more: Partial<VectorSearch> = {}): VectorSearch {
  const all = { files: undefined, except: [], count: 2, names: [] };
  return { ...STORE, model: "m", vector, ...all, ...more };
}

/** For stores that find vectors by themselves. */
function describeNearest(open: () => Promise<ChunkStore>): void {
  const find = async (chunks: ChunkStore, search: VectorSearch): Promise<Nearest> =>
    (await chunks.findNearest(search)) ?? assert.fail("it finds none");
  const textsOf = async (chunks: ChunkStore, { best }: Nearest): Promise<(string | undefined)[]> =>
    await Promise.all(best.map(async ({ id }) => (await chunks.getChunk(STORE, id))?.text));

  it("finds the nearest of one store, tenant, model and length, the best first", async () => {
    const chunks = await open();
    await chunks.put(at("f"), 0, [toChunk(80), toChunk(10), toChunk(30), ...plain("no vector")]);
    await chunks.put(at("f"), 4, [toChunk(0, { model: "other" }), toChunk(0, { length: 4 })]);
    await chunks.put(at("f", "vs_2"), 0, [toChunk(0)]);
    await chunks.put(at("f", "vs_1", "other"), 0, [toChunk(0)]);
    const found = await find(chunks, toSearch(angle(0)));
    assert.deepEqual(await textsOf(chunks, found), ["at 10", "at 30"]);
    const exact = [10, 30].map((degrees) => Math.cos((degrees * Math.PI) / 180));
    for (const [index, { likeness }] of found.best.entries()) {
      assert.ok(Math.abs(likeness - (exact[index] ?? 0)) < 1e-6, `${likeness}`);
    }
    assert.equal((await find(chunks, toSearch(angle(0, 4)))).best.length, 1);
    assert.deepEqual(await find(chunks, toSearch(angle(0), { model: "nobody" })), {
      best: [],
      named: new Map(),
    });
  });

  it("reports named chunks apart, and opposite vectors as not alike", async () => {
    const chunks = await open();
    await chunks.put(at("f"), 0, [toChunk(170), toChunk(5), toChunk(60)]);
    const [first] = (await find(chunks, toSearch(angle(0)))).best;
    const named = await find(chunks, toSearch(angle(0), { count: 3, names: [first?.id ?? 0] }));
    assert.deepEqual([...named.named.keys()], [first?.id]);
    assert.deepEqual(await textsOf(chunks, named), ["at 60", "at 170"]);
    assert.equal(named.best[1]?.likeness, 0);
  });

  it("searches for vectors in some files, and not in others", async () => {
    const chunks = await open();
    for (const [file, degrees] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const) {
      await chunks.put(at(file), 0, [toChunk(degrees)]);
    }
    const some = await find(chunks, toSearch(angle(0), { files: ["b", "c"] }));
    assert.deepEqual(await textsOf(chunks, some), ["at 2", "at 3"]);
    const others = await find(chunks, toSearch(angle(0), { except: ["a"], count: 1 }));
    assert.deepEqual(await textsOf(chunks, others), ["at 2"]);
    assert.deepEqual((await find(chunks, toSearch(angle(0), { files: [] }))).best, []);
  });

  it("finds no vector that was replaced, trimmed or deleted", async () => {
    const chunks = await open();
    await chunks.put(at("f"), 0, [toChunk(1), toChunk(2), toChunk(3)]);
    await chunks.put(at("f"), 0, [toChunk(50)]);
    await chunks.trim(at("f"), 2);
    const left = await find(chunks, toSearch(angle(0), { count: 5 }));
    assert.deepEqual(await textsOf(chunks, left), ["at 2", "at 50"]);
    await chunks.deleteStore(STORE);
    assert.deepEqual((await find(chunks, toSearch(angle(0)))).best, []);
  });
}
