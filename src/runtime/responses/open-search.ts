/** What searching needs of this runtime: vector stores with their queue, and the kinds of tools that search. */

import type { Clock } from "../../base/clock.ts";
import { makeId } from "../../base/ids.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import type { ToolKind } from "../../responses/bridge/tool-kind.ts";
import { createFileSearchKind } from "../../responses/kinds/file-search.ts";
import { createWebSearchKind, type WebTools } from "../../responses/kinds/web-search.ts";
import { createIndexQueue, type IndexQueue } from "../../responses/vector-stores/index-queue.ts";
import { STORE_KIND, type VectorParts } from "../../responses/vector-stores/kept-store.ts";
import { forgetFile } from "../../responses/vector-stores/store-files.ts";
import { deleteStore } from "../../responses/vector-stores/stores.ts";
import type { ChunkStore } from "../../store/chunk-store.ts";
import type { Shelf, Thing } from "../../store/shelf.ts";

export interface SearchSettings {
  /** Searches by meaning, too, where there is one. */
  readonly embedder?: Embedder | undefined;
  /** The tools behind `web_search`. */
  readonly webTools: () => Promise<WebTools>;
}

export interface OpenedSearch {
  readonly vectors: VectorParts & { readonly queue: IndexQueue };
  readonly kinds: readonly ToolKind[];
  /** Takes a file out of every vector store: it is going to be deleted. */
  forgetFile(tenant: string, id: string): Promise<void>;
  /** Removes what belongs to a thing whose time is over, and the thing where it is a store. */
  expire(thing: Thing): Promise<void>;
  /** Goes on with files that other processes have left. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface SearchPlaces {
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** Closed with this. */
  readonly chunks: ChunkStore;
}

export function openSearch(
  { shelf, clock, chunks }: SearchPlaces,
  { embedder, webTools }: SearchSettings,
): OpenedSearch {
  const parts: VectorParts = { shelf, clock, makeId, chunks, embedder };
  const queue = createIndexQueue(parts);
  return {
    vectors: { ...parts, queue },
    kinds: [createWebSearchKind({ tools: webTools }), createFileSearchKind(parts)],
    forgetFile: (tenant, id) => forgetFile(parts, tenant, id),
    async expire({ tenant, kind, id }) {
      if (kind === STORE_KIND) await deleteStore(parts, tenant, id);
      if (kind === "file") await forgetFile(parts, tenant, id);
    },
    start: () => queue.start(),
    async close() {
      await queue.close();
      chunks.close();
    },
  };
}
