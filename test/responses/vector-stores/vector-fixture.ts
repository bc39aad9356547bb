/**
 * Vector stores in memory, for tests: with files, a clock that tests advance, and embeddings that count words.
 */

import { createIds } from "../../../src/base/ids.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { createLocalEngine } from "../../../src/engine/local-engine.ts";
import { type Embedder, toUnit } from "../../../src/providers/embeddings/embedder.ts";
import { createFile } from "../../../src/responses/files/files.ts";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";
import { defineIndexing } from "../../../src/responses/vector-stores/index-body.ts";
import { createIndexRuns } from "../../../src/responses/vector-stores/index-runs.ts";
import type {
  FileIndexParts,
  VectorParts,
} from "../../../src/responses/vector-stores/kept-store.ts";
import { createVectorMemory } from "../../../src/responses/vector-stores/vector-memory.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { openMemoryChunks } from "../../../src/store/sqlite/sqlite-chunks.ts";
import type { Store } from "../../../src/store/store.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/manual-clock.ts";
import { streamOf } from "../../store/shelf-contract.ts";

export interface VectorBench extends FileIndexParts {
  readonly clock: ManualClock;
  /** Where files are indexed. */
  readonly engine: Engine;
  readonly store: Store;
  /** Another process in place of the first: its engine over the same record. */
  restart(embedder?: Embedder): VectorBench;
  /** Keeps a file; returns its id. */
  upload(filename: string, content: string | Uint8Array, tenant?: string): Promise<string>;
}

export const TENANT = "t";

export async function createBench(embedder?: Embedder): Promise<VectorBench> {
  const clock = createManualClock(1_790_000_000_000);
  const shelf = createMemoryShelf();
  const parts = { shelf, clock, makeId: createIds(clock), embedder };
  const chunks = await openMemoryChunks();
  const vectors: VectorParts = { ...parts, chunks, vectors: createVectorMemory(chunks) };
  const store = createMemoryStore();
  const open = (embedder: Embedder | undefined): VectorBench =>
    openBench({ ...vectors, embedder }, { store, clock }, open);
  return open(embedder);
}

function openBench(
  vectors: VectorParts,
  { store, clock }: Pick<VectorBench, "store" | "clock">,
  open: (embedder: Embedder | undefined) => VectorBench,
): VectorBench {
  const engine = createLocalEngine({ store, clock, isAlive: () => false });
  defineIndexing(engine, vectors);
  return {
    ...vectors,
    clock,
    engine,
    store,
    indexing: createIndexRuns(engine),
    restart: open,
    async upload(filename, content, tenant = TENANT) {
      const asked = parseNewFile(filename, { purpose: "assistants" });
      const bytes = streamOf(Buffer.from(content));
      return (await createFile(vectors, tenant, asked, { bytes, maxBytes: 10_000_000 })).id;
    },
  };
}

/** Texts are near where they speak of the same of these, whatever the words. */
const MEANINGS = [/\b(dogs?|puppy|hound)\b/gi, /\b(cars?|vehicle|automobile)\b/gi, /\bcheese\b/gi];

export function createWordEmbedder(): Embedder & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    model: "words",
    asked,
    async embed(texts) {
      asked.push(...texts);
      return texts.map((text) =>
        toUnit(MEANINGS.map((pattern) => (text.match(pattern) ?? []).length)),
      );
    },
  };
}
