/** Vector stores in memory, for tests: with files, a clock that stands still, and embeddings that are counted words. */

import { createIds } from "../../../src/base/ids.ts";
import type { Embedder } from "../../../src/providers/embeddings/embedder.ts";
import { toUnit } from "../../../src/providers/embeddings/embedder.ts";
import { createFile } from "../../../src/responses/files/files.ts";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";
import {
  createIndexQueue,
  type IndexQueue,
} from "../../../src/responses/vector-stores/index-queue.ts";
import type { VectorParts } from "../../../src/responses/vector-stores/kept-store.ts";
import { openMemoryChunkStore } from "../../../src/store/chunk-store.ts";
import { createMemoryShelf } from "../../../src/store/memory-shelf.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/manual-clock.ts";
import { streamOf } from "../../store/shelf-contract.ts";

export interface VectorBench extends VectorParts {
  readonly clock: ManualClock;
  readonly queue: IndexQueue;
  /** Keeps a file; returns its id. */
  upload(filename: string, content: string | Uint8Array, tenant?: string): Promise<string>;
}

export const TENANT = "t";

export async function createBench(embedder?: Embedder): Promise<VectorBench> {
  const clock = createManualClock(1_790_000_000_000);
  const shelf = createMemoryShelf();
  const parts = { shelf, clock, makeId: createIds(clock), embedder };
  const vectors: VectorParts = { ...parts, chunks: await openMemoryChunkStore() };
  return {
    ...vectors,
    clock,
    queue: createIndexQueue(vectors),
    async upload(filename, content, tenant = TENANT) {
      const asked = parseNewFile(filename, { purpose: "assistants" });
      const bytes = streamOf(Buffer.from(content));
      return (await createFile(parts, tenant, asked, { bytes, maxBytes: 10_000_000 })).id;
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
