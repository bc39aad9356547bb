/**
 * Keeps the vectors of indexed files in memory for the next search: reading them from the database takes thirty times
 * as long as comparing them.
 *
 * The vectors of an indexing run never change, so a block is found by the run's id and is never stale, whichever
 * process has indexed, removed or added the file again. Memory is bounded: a search that needs more than fits keeps
 * what fits, and reads the rest again each time.
 */

import type { ChunkStore, StorePlace, VectorPage } from "../../store/chunk-store.ts";

/** The vectors of one file, one after the other. */
export interface VectorBlock {
  /** The numbers of its chunks. */
  readonly ids: Float64Array;
  /** `length` floats for each chunk; zeros if a chunk's vector has another length. */
  readonly floats: Float32Array;
  readonly length: number;
}

/** A file and the run that has indexed it. */
interface IndexedFile {
  readonly file_id: string;
  readonly run_id: string;
}

export interface VectorMemory {
  /** Begins a search: the blocks that it uses are not dropped for others of the same search. */
  search(place: StorePlace, model: string): (file: IndexedFile) => Promise<VectorBlock>;
}

/** 250,000 vectors of 256 floats. */
const MOST_BYTES = 256 * 2 ** 20;
/** Read at a time: 500 vectors of 1536 floats are 3 MB and a few milliseconds. */
const VECTORS_READ = 500;

interface Kept {
  readonly block: VectorBlock;
  readonly bytes: number;
  /** The last search that used it. */
  search: number;
}

export function createVectorMemory(chunks: ChunkStore, mostBytes = MOST_BYTES): VectorMemory {
  /** In the order of their last use, the oldest first. */
  const kept = new Map<string, Kept>();
  let bytes = 0;
  let searches = 0;

  function keep(key: string, block: VectorBlock, search: number): void {
    const size = block.ids.byteLength + block.floats.byteLength;
    if (kept.has(key) || size > mostBytes) return;
    for (const [old, { bytes: freed, search: last }] of kept) {
      if (bytes + size <= mostBytes) break;
      if (last === search) return;
      kept.delete(old);
      bytes -= freed;
    }
    kept.set(key, { block, bytes: size, search });
    bytes += size;
  }

  return {
    search({ tenant, store }, model) {
      const search = ++searches;
      return async ({ file_id, run_id }) => {
        const key = JSON.stringify([tenant, store, file_id, run_id, model]);
        const known = kept.get(key);
        if (known) {
          kept.delete(key);
          kept.set(key, known);
          known.search = search;
          return known.block;
        }
        const block = await readBlock(chunks, { tenant, store, model, files: [file_id] });
        keep(key, block, search);
        return block;
      };
    },
  };
}

async function readBlock(
  chunks: ChunkStore,
  place: Pick<VectorPage, "tenant" | "store" | "model" | "files">,
): Promise<VectorBlock> {
  const ids: number[] = [];
  const vectors: Float32Array[] = [];
  let after: VectorPage["after"];
  for (;;) {
    const page = await chunks.readVectors({ ...place, after, limit: VECTORS_READ });
    for (const { id, vector } of page) {
      ids.push(id);
      vectors.push(vector);
    }
    after = page.at(-1);
    if (page.length < VECTORS_READ) return toBlock(ids, vectors);
    // Reading is synchronous: other work gets its turn between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function toBlock(ids: readonly number[], vectors: readonly Float32Array[]): VectorBlock {
  const length = vectors[0]?.length ?? 0;
  const floats = new Float32Array(ids.length * length);
  for (const [at, vector] of vectors.entries()) {
    if (vector.length === length) floats.set(vector, at * length);
  }
  return { ids: Float64Array.from(ids), floats, length };
}
