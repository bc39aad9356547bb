/**
 * Batches: many files that are added to a vector store at once, and are waited for or cancelled together.
 */

import { z } from "zod";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import type { Thing } from "../../store/shelf.ts";
import type { ListPage } from "../tenant/paging.ts";
import { toSeconds } from "../tenant/shelf-parts.ts";
import {
  countFiles,
  encodeBatch,
  encodeStoreFile,
  type FileCounts,
  type FileIndexParts,
  type FileStatus,
  findStore,
  nameBatch,
  nameStore,
  nameStoreFile,
  readBatch,
  readStoreFile,
  readStoreFiles,
  toUnknownStore,
  type VectorParts,
} from "./kept-store.ts";
import { addFiles, listStoreFiles, NewStoreFile, type StoreFileObject } from "./store-files.ts";

export interface BatchObject {
  readonly id: string;
  readonly object: "vector_store.files_batch";
  readonly created_at: number;
  readonly vector_store_id: string;
  readonly status: FileStatus;
  readonly file_counts: FileCounts;
}

export interface BatchOf {
  readonly store: string;
  readonly batch: string;
}

const MAX_FILES = 2000;

const { file_id: _, ...forAll } = NewStoreFile.shape;

export const CreateBatch = open({
  file_ids: z.array(z.string()).min(1).max(MAX_FILES).nullable().optional(),
  files: z.array(NewStoreFile).min(1).max(MAX_FILES).nullable().optional(),
  ...forAll,
});

export async function createBatch(
  parts: FileIndexParts,
  tenant: string,
  store: string,
  body: unknown,
): Promise<BatchObject> {
  const asked = parseAs(CreateBatch, body, "request");
  await findStore(parts, tenant, store);
  const { attributes, chunking_strategy, file_ids, files } = asked;
  const shared = { attributes, chunking_strategy };
  // With `files`, each file has its own settings; the common settings are for `file_ids`.
  const added = files ?? (file_ids ?? []).map((file_id) => ({ ...shared, file_id }));
  if (added.length === 0 || (files && file_ids)) {
    const message = "Name the files of the batch in `file_ids`, or in `files`.";
    throw new Failure("invalid_request", message, { param: "file_ids" });
  }
  const id = parts.makeId("vsfb");
  await addFiles(parts, { tenant, store, batch: id }, added, async () => {
    const times = { created_at_ms: parts.clock.now(), expires_at_ms: null };
    const body = encodeBatch({ is_cancelled: false });
    const thing = { ...nameBatch(tenant, id), parent: store, body, ...times };
    const added = await parts.shelf.putUnder(nameStore(tenant, store), [thing]);
    if (added === undefined) throw toUnknownStore(store);
  });
  return getBatch(parts, tenant, { store, batch: id });
}

export async function getBatch(
  parts: VectorParts,
  tenant: string,
  { store, batch }: BatchOf,
): Promise<BatchObject> {
  return toBatch(parts, await findBatch(parts, tenant, { store, batch }));
}

/** Files that are searchable already stay so. */
export async function cancelBatch(
  parts: FileIndexParts,
  tenant: string,
  { store, batch }: BatchOf,
): Promise<BatchObject> {
  await findBatch(parts, tenant, { store, batch });
  for await (const thing of readBatchFiles(parts, tenant, { store, batch })) {
    const { file_id, status, run_id } = readStoreFile(thing);
    if (status !== "in_progress") continue;
    let isCancelled = false;
    await parts.shelf.change(nameStoreFile(tenant, store, file_id), (body) => {
      const kept = readStoreFile({ body });
      isCancelled = kept.status === "in_progress" && kept.run_id === run_id;
      return isCancelled ? encodeStoreFile({ ...kept, status: "cancelled" }) : undefined;
    });
    if (!isCancelled) continue;
    await parts.indexing.remove(run_id);
    await parts.chunks.trim({ tenant, store, file: file_id }, 0);
  }
  await parts.shelf.update(nameBatch(tenant, batch), encodeBatch({ is_cancelled: true }));
  return getBatch(parts, tenant, { store, batch });
}

export async function listBatchFiles(
  parts: VectorParts,
  tenant: string,
  { store, batch }: BatchOf,
  query: URLSearchParams,
): Promise<ListPage<StoreFileObject>> {
  await findBatch(parts, tenant, { store, batch });
  return listStoreFiles(parts, tenant, { store, batch }, query);
}

async function findBatch(
  parts: VectorParts,
  tenant: string,
  { store, batch }: BatchOf,
): Promise<Thing> {
  await findStore(parts, tenant, store);
  const thing = await parts.shelf.get(nameBatch(tenant, batch));
  if (thing?.parent === store) return thing;
  const message = `There is no batch \`${clip(batch, 80)}\` in this vector store.`;
  throw new Failure("not_found", message, { param: "batch_id" });
}

async function* readBatchFiles(
  { shelf }: VectorParts,
  tenant: string,
  { store, batch }: BatchOf,
): AsyncGenerator<Thing> {
  for await (const thing of readStoreFiles(shelf, tenant, store)) {
    if (readStoreFile(thing).batch_id === batch) yield thing;
  }
}

async function toBatch(parts: VectorParts, thing: Thing): Promise<BatchObject> {
  const { id, tenant, parent } = thing;
  const store = parent ?? "";
  const { counts } = await countFiles(readBatchFiles(parts, tenant, { store, batch: id }));
  const status = counts.in_progress > 0 ? "in_progress" : "completed";
  return {
    id,
    object: "vector_store.files_batch",
    created_at: toSeconds(thing.created_at_ms),
    vector_store_id: store,
    status: readBatch(thing).is_cancelled ? "cancelled" : status,
    file_counts: counts,
  };
}
