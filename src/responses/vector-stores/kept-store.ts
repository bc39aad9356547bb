/**
 * Vector stores, their files and batches, as stored on the shelf. Only this package writes them, so they are not
 * checked again.
 */

import type { Payer } from "../../agent/payer.ts";
import { Failure } from "../../base/failure.ts";
import { storedObject } from "../../base/stored.ts";
import { clip } from "../../base/text.ts";
import type { Metadata } from "../../protocol/request.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";
import type { ChunkStore } from "../../store/chunk-store.ts";
import type { Shelf, Thing, ThingName } from "../../store/shelf.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { Chunking } from "./chunk-text.ts";
import type { FileAttributes } from "./filters.ts";
import type { IndexRuns } from "./index-runs.ts";
import type { VectorMemory } from "./vector-memory.ts";

/** The parts for all work on vector stores. */
export interface VectorParts extends ShelfParts {
  readonly chunks: ChunkStore;
  /** The vectors of `chunks`, for searches. */
  readonly vectors: VectorMemory;
  /** Undefined if files are searched by their words only. */
  readonly embedder: Embedder | undefined;
  /** The key of the request; null, or left out, if nothing has to be paid. */
  readonly keyId?: string | null | undefined;
  /** Pays for a key's requests. */
  readonly payerOf?: ((keyId: string) => Payer) | undefined;
}

/** The payer of a request's embeddings; undefined if there is none. */
export function findPayer({ payerOf }: VectorParts, keyId: string | null | undefined) {
  return keyId ? payerOf?.(keyId) : undefined;
}

/** The parts for changes of a store's files. */
export interface FileIndexParts extends VectorParts {
  readonly indexing: IndexRuns;
}

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
  readonly attributes: FileAttributes;
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

const STORE = storedObject<KeptStore>("a vector store", ["name", "metadata"]);
const STORE_FILE = storedObject<KeptStoreFile>("a file of a vector store", ["file_id", "status"]);
const BATCH = storedObject<KeptBatch>("a batch of files", ["is_cancelled"]);

export const encodeStore = STORE.write;
export const encodeStoreFile = STORE_FILE.write;
export const encodeBatch = BATCH.write;

export function readStore({ body }: Pick<Thing, "body">): KeptStore {
  return STORE.read(body);
}

export function readStoreFile({ body }: Pick<Thing, "body">): KeptStoreFile {
  return STORE_FILE.read(body);
}

export function readBatch({ body }: Pick<Thing, "body">): KeptBatch {
  return BATCH.read(body);
}

/** Rejects with `not_found`. */
export async function findStore(
  { shelf }: Pick<VectorParts, "shelf">,
  tenant: string,
  id: string,
): Promise<Thing> {
  const thing = await shelf.get(nameStore(tenant, id));
  if (thing) return thing;
  throw toUnknownStore(id);
}

export function toUnknownStore(id: string): Failure {
  const message = `There is no vector store \`${clip(id, 80)}\`.`;
  return new Failure("not_found", message, { param: "vector_store_id" });
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

/** Rows that are read at a time. */
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

/** The number of files of each status, and the bytes of the searchable ones. */
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
