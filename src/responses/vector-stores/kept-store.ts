/** Vector stores, their files and batches, as they stand on the shelf. What this package wrote is taken at its word. */

import type { Payer } from "../../agent/payer.ts";
import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Metadata } from "../../protocol/request.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import type { ChunkStore } from "../../store/chunk-store.ts";
import type { Shelf, Thing, ThingName } from "../../store/shelf.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { Chunking } from "./chunk-text.ts";
import type { Attributes } from "./filters.ts";
import type { IndexRuns } from "./index-runs.ts";
import type { VectorMemory } from "./vector-memory.ts";

/** What everything about vector stores is made with. */
export interface VectorParts extends ShelfParts {
  readonly chunks: ChunkStore;
  /** The vectors of `chunks`, for searches. */
  readonly vectors: VectorMemory;
  /** Undefined where files are searched by their words alone. */
  readonly embedder: Embedder | undefined;
  /** The key that asks; null, or left out, where nobody is to pay. */
  readonly keyId?: string | null | undefined;
  /** Who pays for what a key asks for. */
  readonly payerOf?: ((keyId: string) => Payer) | undefined;
}

/** Who pays for the embeddings of a request; undefined where nobody does. */
export function findPayer({ payerOf }: VectorParts, keyId: string | null | undefined) {
  return keyId ? payerOf?.(keyId) : undefined;
}

/** What changes the files of a store is made with. */
export interface IndexParts extends VectorParts {
  readonly indexing: IndexRuns;
}

/** The name of the body that indexes files, in the record. */
export const INDEX_BODY = "index";

export const STORE_KIND = "vector_store";
export const STORE_FILE_KIND = "vector_store.file";
export const BATCH_KIND = "vector_store.batch";

export interface KeptStore {
  readonly name: string;
  readonly description: string | null;
  readonly metadata: Metadata;
  readonly expires_after_days: number | null;
  readonly last_active_at_ms: number;
}

export type FileStatus = "in_progress" | "completed" | "failed" | "cancelled";

export interface KeptStoreFile {
  readonly file_id: string;
  readonly filename: string;
  readonly status: FileStatus;
  readonly usage_bytes: number;
  readonly last_error: FileError | null;
  readonly chunking: Chunking;
  readonly attributes: Attributes;
  readonly batch_id: string | null;
  /** The run that indexes it, or did. */
  readonly run_id: string;
}

export interface FileError {
  readonly code: "server_error" | "unsupported_file" | "invalid_file";
  readonly message: string;
}

export interface KeptBatch {
  readonly is_cancelled: boolean;
}

export function nameStore(tenant: string, id: string): ThingName {
  return { tenant, kind: STORE_KIND, id };
}

/** One file may be in several stores: its thing is named by both. */
export function nameStoreFile(tenant: string, store: string, file: string): ThingName {
  return { tenant, kind: STORE_FILE_KIND, id: `${store}/${file}` };
}

export function nameBatch(tenant: string, id: string): ThingName {
  return { tenant, kind: BATCH_KIND, id };
}

export function encodeKept(kept: KeptStore | KeptStoreFile | KeptBatch): Json {
  return kept as unknown as Json;
}

export function readStore({ body }: Pick<Thing, "body">): KeptStore {
  return body as unknown as KeptStore;
}

export function readStoreFile({ body }: Pick<Thing, "body">): KeptStoreFile {
  return body as unknown as KeptStoreFile;
}

export function readBatch({ body }: Pick<Thing, "body">): KeptBatch {
  return body as unknown as KeptBatch;
}

/** Rejects with `not_found`. */
export async function findStore(
  { shelf }: Pick<VectorParts, "shelf">,
  tenant: string,
  id: string,
): Promise<Thing> {
  const thing = await shelf.get(nameStore(tenant, id));
  if (thing) return thing;
  const message = `There is no vector store \`${clip(id, 80)}\`.`;
  throw new Failure("not_found", message, { param: "vector_store_id" });
}

/** Rejects with `not_found`. */
export async function findStoreFile(
  { shelf }: Pick<VectorParts, "shelf">,
  tenant: string,
  { store, file }: { readonly store: string; readonly file: string },
): Promise<Thing> {
  const thing = await shelf.get(nameStoreFile(tenant, store, file));
  if (thing) return thing;
  const message = `There is no file \`${clip(file, 80)}\` in the vector store \`${clip(store, 80)}\`.`;
  throw new Failure("not_found", message, { param: "file_id" });
}

/** Rows read at a time. */
const READ_ROWS = 500;

/** Every file of a store, oldest first. */
export async function* readStoreFiles(
  shelf: Shelf,
  tenant: string,
  store: string,
): AsyncGenerator<Thing> {
  let after: string | undefined;
  for (;;) {
    const among = { tenant, kind: STORE_FILE_KIND, parent: store, order: "oldest" } as const;
    const things = await shelf.list({ ...among, limit: READ_ROWS, after });
    yield* things;
    after = things.at(-1)?.id;
    if (things.length < READ_ROWS) return;
  }
}

export type FileCounts = Readonly<Record<FileStatus | "total", number>>;

/** How many files there are of each status, and how much place those take that can be searched. */
export async function countFiles(
  files: AsyncIterable<Thing>,
): Promise<{ counts: FileCounts; usageBytes: number }> {
  const counts = { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 };
  let usageBytes = 0;
  for await (const thing of files) {
    const { status, usage_bytes } = readStoreFile(thing);
    counts[status]++;
    counts.total++;
    usageBytes += usage_bytes;
  }
  return { counts, usageBytes };
}
