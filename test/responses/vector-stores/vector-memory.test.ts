import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createVectorMemory } from "../../../src/responses/vector-stores/vector-memory.ts";
import type { ChunkStore } from "../../../src/store/chunk-store.ts";
import { openMemoryChunks } from "../../../src/store/sqlite/sqlite-chunks.ts";

const PLACE = { tenant: "t", store: "s" };

interface Kept extends Disposable {
  readonly chunks: ChunkStore;
  /** The files that were read from the store, in order. */
  readonly read: string[];
  /** Writes a file of so many chunks, whose vectors are all this. */
  put(file: string, count: number, vector: readonly number[]): Promise<void>;
}

async function keep(): Promise<Kept> {
  const chunks = await openMemoryChunks();
  const read: string[] = [];
  return {
    chunks: {
      ...toMethods(chunks),
      readVectors: (page) => {
        if (page.after === undefined) read.push(...(page.files ?? []));
        return chunks.readVectors(page);
      },
    },
    read,
    async put(file, count, vector) {
      const embedding = { vector: Float32Array.from(vector), model: "m" };
      const all = Array.from({ length: count }, () => ({ text: "text", embedding }));
      await chunks.trim({ ...PLACE, file }, 0);
      await chunks.put({ ...PLACE, file }, 0, all);
    },
    [Symbol.dispose]: () => chunks.close(),
  };
}

function toMethods(chunks: ChunkStore): ChunkStore {
  return {
    put: (...given) => chunks.put(...given),
    trim: (...given) => chunks.trim(...given),
    deleteStore: (place) => chunks.deleteStore(place),
    findByWords: (search) => chunks.findByWords(search),
    countWords: (...given) => chunks.countWords(...given),
    readVectors: (page) => chunks.readVectors(page),
    findNearest: (search) => chunks.findNearest(search),
    getChunk: (...given) => chunks.getChunk(...given),
    close: () => chunks.close(),
  };
}

const fileOf = (file_id: string, run_id = "r") => ({ file_id, run_id });

describe("the vectors of files in memory", () => {
  it("are read once, all pages of them", async () => {
    using kept = await keep();
    await kept.put("a", 1201, [0.6, 0.8]);
    const memory = createVectorMemory(kept.chunks);
    for (let at = 0; at < 3; at++) {
      const block = await memory.search(PLACE, "m")(fileOf("a"));
      assert.deepEqual([block.ids.length, block.floats.length, block.length], [1201, 2402, 2]);
      assert.deepEqual(block.floats.subarray(2400), Float32Array.from([0.6, 0.8]));
    }
    assert.deepEqual(kept.read, ["a"]);
  });

  it("are read again where another run has indexed the file, or another model is asked for", async () => {
    using kept = await keep();
    await kept.put("a", 1, [1, 0]);
    const memory = createVectorMemory(kept.chunks);
    await memory.search(PLACE, "m")(fileOf("a", "first"));
    await kept.put("a", 1, [0, 1]);
    const again = await memory.search(PLACE, "m")(fileOf("a", "second"));
    assert.deepEqual([...again.floats], [0, 1]);
    assert.equal((await memory.search(PLACE, "other")(fileOf("a", "second"))).ids.length, 0);
  });

  it("of another tenant or store are not those of this one", async () => {
    using kept = await keep();
    await kept.put("a", 1, [1, 0]);
    const memory = createVectorMemory(kept.chunks);
    assert.equal((await memory.search(PLACE, "m")(fileOf("a"))).ids.length, 1);
    for (const place of [
      { tenant: "u", store: "s" },
      { tenant: "t", store: "z" },
    ]) {
      assert.equal((await memory.search(place, "m")(fileOf("a"))).ids.length, 0);
    }
  });

  it("stay within their limit of memory; the ones used longest ago go first", async () => {
    using kept = await keep();
    for (const file of ["a", "b", "c"]) await kept.put(file, 10, [1, 0]);
    const oneFile = 10 * (8 + 2 * 4);
    const memory = createVectorMemory(kept.chunks, 2 * oneFile);
    for (const file of ["a", "b", "a", "c", "a"]) await memory.search(PLACE, "m")(fileOf(file));
    assert.deepEqual(kept.read, ["a", "b", "c"]);
    await memory.search(PLACE, "m")(fileOf("b"));
    assert.deepEqual(kept.read, ["a", "b", "c", "b"]);
  });

  it("of a store that does not fit stay as far as they fit, search after search", async () => {
    using kept = await keep();
    for (const file of ["a", "b", "c"]) await kept.put(file, 10, [1, 0]);
    const memory = createVectorMemory(kept.chunks, 2 * 10 * (8 + 2 * 4));
    for (let round = 0; round < 3; round++) {
      const read = memory.search(PLACE, "m");
      for (const file of ["a", "b", "c"]) {
        assert.equal((await read(fileOf(file))).ids.length, 10);
      }
    }
    assert.deepEqual(kept.read, ["a", "b", "c", "c", "c"]);
  });
});
