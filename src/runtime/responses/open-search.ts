/** What searching needs of this runtime: vector stores with the runs that index their files, and the kinds of tools that search. */

import type { Clock } from "../../base/clock.ts";
import { makeId } from "../../base/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import type { ToolKind } from "../../responses/bridge/tool-kind.ts";
import { createFileSearchKind } from "../../responses/kinds/file-search.ts";
import { createWebSearchKind, type WebTools } from "../../responses/kinds/web-search.ts";
import { defineIndexing } from "../../responses/vector-stores/index-body.ts";
import { createIndexRuns } from "../../responses/vector-stores/index-runs.ts";
import {
  type IndexParts,
  STORE_KIND,
  type VectorParts,
} from "../../responses/vector-stores/kept-store.ts";
import { forgetFile } from "../../responses/vector-stores/store-files.ts";
import { deleteStore } from "../../responses/vector-stores/stores.ts";
import { createVectorMemory } from "../../responses/vector-stores/vector-memory.ts";
import type { ChunkStore } from "../../store/chunk-store.ts";
import type { Shelf, ThingName } from "../../store/shelf.ts";

export interface SearchSettings {
  /** Searches by meaning, too, where there is one. */
  readonly embedder?: Embedder | undefined;
  /** The tools behind `web_search`. */
  readonly webTools: () => Promise<WebTools>;
  /** Who pays for the embeddings that a key asks for. */
  readonly payerOf?: VectorParts["payerOf"];
}

export interface OpenedSearch {
  readonly vectors: IndexParts;
  readonly kinds: readonly ToolKind[];
  /** Takes a file out of every vector store: it is going to be deleted. */
  forgetFile(tenant: string, id: string): Promise<void>;
  /** Removes what belongs to a thing whose time is over, and the thing where it is a store. */
  expire(thing: ThingName): Promise<void>;
  close(): Promise<void>;
}

interface SearchPlaces {
  readonly engine: Engine;
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** Closed with this. */
  readonly chunks: ChunkStore;
}

export function openSearch(
  { shelf, clock, chunks, engine }: SearchPlaces,
  { embedder, webTools, payerOf }: SearchSettings,
): OpenedSearch {
  const found = { chunks, vectors: createVectorMemory(chunks) };
  const parts: VectorParts = { shelf, clock, makeId, ...found, embedder, payerOf };
  defineIndexing(engine, parts);
  const vectors: IndexParts = { ...parts, indexing: createIndexRuns(engine) };
  return {
    vectors,
    kinds: [createWebSearchKind({ tools: webTools }), createFileSearchKind(parts)],
    forgetFile: (tenant, id) => forgetFile(vectors, tenant, id),
    async expire({ tenant, kind, id }) {
      if (kind === STORE_KIND) await deleteStore(vectors, tenant, id);
      if (kind === "file") await forgetFile(vectors, tenant, id);
    },
    async close() {
      await chunks.close();
    },
  };
}
