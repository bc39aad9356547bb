/** What searching needs of this runtime: vector stores with the runs that index their files, and the kinds of tools that search. */

import type { Clock } from "../../base/clock.ts";
import { makeId } from "../../base/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import type { ChunkStore } from "../../store/chunk-store.ts";
import type { Shelf, ThingName } from "../../store/shelf.ts";
import { createFileSearchKind } from "../kinds/file-search.ts";
import type { Toolbox } from "../kinds/mcp-backing.ts";
import type { ToolKind } from "../kinds/tool-kind.ts";
import { createWebSearchKind, type WebTools } from "../kinds/web-search.ts";
import { defineIndexing } from "../vector-stores/index-body.ts";
import { createIndexRuns } from "../vector-stores/index-runs.ts";
import { type IndexParts, STORE_KIND, type VectorParts } from "../vector-stores/kept-store.ts";
import { forgetFile } from "../vector-stores/store-files.ts";
import { deleteStore } from "../vector-stores/stores.ts";
import { createVectorMemory } from "../vector-stores/vector-memory.ts";

export interface SearchSettings {
  /** Searches by meaning, too, where there is one. */
  readonly embedder?: Embedder | undefined;
  /** Has the tools that answer `web_search`. */
  readonly toolbox: Toolbox;
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
  { embedder, toolbox, payerOf }: SearchSettings,
): OpenedSearch {
  const found = { chunks, vectors: createVectorMemory(chunks) };
  const parts: VectorParts = { shelf, clock, makeId, ...found, embedder, payerOf };
  defineIndexing(engine, parts);
  const vectors: IndexParts = { ...parts, indexing: createIndexRuns(engine) };
  return {
    vectors,
    kinds: [
      createWebSearchKind({ tools: () => findWebTools(toolbox) }),
      createFileSearchKind(parts),
    ],
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

async function findWebTools(toolbox: Toolbox): Promise<WebTools> {
  const [search, open] = await toolbox.pick(["search_web", "scrape_webpage"]);
  return { search, open };
}
