/**
 * A search among 110,000 vectors of 256 floats in a file on disk, after the first one, against multiplying
 * the same vectors in memory and sorting what comes out.
 *
 *     npm run bench:vectors [-- --check]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { makeId } from "../src/base/ids.ts";
import type { Embedder } from "../src/providers/embeddings/embedder.ts";
import {
  encodeKept,
  type KeptStore,
  type KeptStoreFile,
  nameStore,
  nameStoreFile,
  type VectorParts,
} from "../src/responses/vector-stores/kept-store.ts";
import { searchStore } from "../src/responses/vector-stores/search.ts";
import { createVectorMemory } from "../src/responses/vector-stores/vector-memory.ts";
import type { ThingName } from "../src/store/shelf.ts";
import { createSqliteChunks } from "../src/store/sqlite/sqlite-chunks.ts";
import { openSqliteStores } from "../src/store/sqlite/sqlite-store.ts";
import { runBench } from "./measure.ts";

const VECTORS = 110_000;
const LENGTH = 256;
const FILES = 11;
const ROUNDS = 7;
/** Of the plain product; measured: 1.2. */
const LIMIT = 2;
const TENANT = "t";
const signal = new AbortController().signal;

const folder = mkdtempSync(join(tmpdir(), "offshoot-bench-"));
try {
  const vectors = Array.from({ length: VECTORS }, (_, at) => toVector(at));
  const question = toVector(0.5);
  const embedder: Embedder = { model: "m", embed: async (texts) => texts.map(() => question) };
  const { shelf, chunksDb, close } = await openSqliteStores(join(folder, "runs.db"));
  const chunks = createSqliteChunks(chunksDb);
  const kept = { shelf, clock: systemClock, makeId, chunks, vectors: createVectorMemory(chunks) };
  const parts: VectorParts = { ...kept, embedder };
  const store = "vs_bench";
  await putThing(parts, nameStore(TENANT, store), null, {
    ...{
      name: "",
      description: null,
      metadata: {},
      expires_after_days: null,
      last_active_at_ms: 0,
    },
  });
  for (let file = 0; file < FILES; file++) await fill(parts, store, file, vectors);
  const ranking_options = { hybrid_search: { embedding_weight: 1, text_weight: 0 } };
  const body = { query: "q", ranking_options };
  const search = async (): Promise<void> =>
    void (await searchStore(parts, TENANT, { store, body }, signal));
  const first = await measureMs(search);
  console.log(`first search: ${first.toFixed(0)} ms`);
  await runBench([
    {
      title: `a search among ${VECTORS} vectors`,
      unit: "ms",
      rounds: ROUNDS,
      contenders: [
        {
          name: "in memory",
          measure: () => measureMs(async () => void multiplyAll(vectors, question)),
        },
        { name: "offshoot", measure: () => measureMs(search) },
      ],
      limits: [{ subject: "offshoot", baseline: "in memory", atMost: LIMIT }],
    },
  ]);
  await close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function fill(
  parts: VectorParts,
  store: string,
  file: number,
  vectors: readonly Float32Array[],
): Promise<void> {
  const file_id = `file-${file}`;
  const each = VECTORS / FILES;
  const mine = vectors.slice(file * each, (file + 1) * each);
  for (let from = 0; from < mine.length; from += 1000) {
    const part = mine.slice(from, from + 1000);
    const texts = part.map((vector, at) => ({
      text: `${file} ${from + at}`,
      embedding: { vector, model: "m" },
    }));
    await parts.chunks.put({ tenant: TENANT, store, file: file_id }, from, texts);
  }
  const kept: KeptStoreFile = {
    ...{ file_id, filename: file_id, status: "completed", usage_bytes: 0, last_error: null },
    chunking: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 },
    ...{ attributes: {}, batch_id: null, run_id: `run-${file}` },
  };
  await putThing(parts, nameStoreFile(TENANT, store, file_id), store, kept);
}

async function putThing(
  { shelf }: VectorParts,
  name: ThingName,
  parent: string | null,
  kept: KeptStore | KeptStoreFile,
): Promise<void> {
  const body = encodeKept(kept);
  await shelf.put({ ...name, parent, body, created_at_ms: 0, expires_at_ms: null });
}

function toVector(seed: number): Float32Array {
  const vector = Float32Array.from({ length: LENGTH }, (_, at) => Math.sin(seed * 7.1 + at * 1.3));
  const size = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / size);
}

function multiplyAll(vectors: readonly Float32Array[], question: Float32Array): number[] {
  const products = vectors.map((vector) => {
    let sum = 0;
    for (let at = 0; at < LENGTH; at++) sum += (vector[at] ?? 0) * (question[at] ?? 0);
    return sum;
  });
  return products.sort((a, b) => b - a).slice(0, 10);
}

async function measureMs(work: () => Promise<void>): Promise<number> {
  const started = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - started) / 1e6;
}
