/**
 * The parts of search: vector stores with the runs that index their files, and the kinds of tools that search.
 */

import type { Clock } from "../../base/clock.ts";
import { makeId } from "../../base/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import type { ChunkStore } from "../../store/chunk-store.ts";
import type { Shelf, ThingName } from "../../store/shelf.ts";
import { createFileSearchKind } from "../kinds/file-search.ts";
import type { ToolPicker } from "../kinds/mcp-backing.ts";
import type { ToolKind } from "../kinds/tool-kind.ts";
import { createWebSearchKind, type WebTools } from "../kinds/web-search.ts";
import { defineIndexing } from "../vector-stores/index-body.ts";
import { createIndexRuns } from "../vector-stores/index-runs.ts";
import { type FileIndexParts, STORE_KIND, type VectorParts } from "../vector-stores/kept-store.ts";
import { forgetFile } from "../vector-stores/store-files.ts";
import { expireStore } from "../vector-stores/stores.ts";
import { createVectorMemory } from "../vector-stores/vector-memory.ts";

export interface HostedSearchSettings {
  /** With it, files are also searched by meaning. */
  readonly embedder?: Embedder | undefined;
  /** Has the tools that answer `web_search`. */
  readonly toolbox: ToolPicker;
  /** Pays for a key's embeddings. */
  readonly payerOf?: VectorParts["payerOf"];
}

export interface OpenedSearch {
  readonly vectors: FileIndexParts;
  readonly kinds: readonly ToolKind[];
  /** Removes a file from every vector store, before it is deleted. */
  forgetFile(tenant: string, id: string): Promise<void>;
  /** Removes the data of a thing that has expired by then, and the thing itself if it is a store. */
  expire(thing: ThingName, expiredBy: number): Promise<void>;
  close(): Promise<void>;
}

interface SearchPlaces {
  readonly engine: Engine;
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** Closed together with this. */
  readonly chunks: ChunkStore;
}

export function openSearch(
  { shelf, clock, chunks, engine }: SearchPlaces,
  { embedder, toolbox, payerOf }: HostedSearchSettings,
): OpenedSearch {
  const found = { chunks, vectors: createVectorMemory(chunks) };
  const parts: VectorParts = { shelf, clock, makeId, ...found, embedder, payerOf };
  defineIndexing(engine, parts);
  const vectors: FileIndexParts = { ...parts, indexing: createIndexRuns(engine) };
  return {
    vectors,
    kinds: [
      createWebSearchKind({ tools: () => findWebTools(toolbox) }),
      createFileSearchKind(parts),
    ],
    forgetFile: (tenant, id) => forgetFile(vectors, tenant, id),
    async expire({ tenant, kind, id }, expiredBy) {
      if (kind === STORE_KIND) await expireStore(vectors, tenant, id, expiredBy);
      if (kind === "file") await forgetFile(vectors, tenant, id);
    },
    async close() {
      await chunks.close();
    },
  };
}

async function findWebTools(toolbox: ToolPicker): Promise<WebTools> {
  const [search, open] = await toolbox.pick(["search_web", "scrape_webpage"]);
  return { search, open };
}
