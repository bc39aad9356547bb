/**
 * The files of vector stores: add, list, show, label, remove. Their text becomes searchable after the request was
 * answered.
 */

import { z } from "zod";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import type { Thing } from "../../store/shelf.ts";
import { getFile } from "../files/files.ts";
import { type ListPage, type Paging, parsePaging, toWholePage } from "../tenant/paging.ts";
import { toSeconds } from "../tenant/shelf-parts.ts";
import { type Chunking, ChunkingStrategy, toChunking } from "./chunk-text.ts";
import type { FileAttributes } from "./filters.ts";
import {
  encodeStoreFile,
  type FileError,
  type FileIndexParts,
  type FileStatus,
  findStore,
  findStoreFile,
  type KeptStoreFile,
  nameStore,
  nameStoreFile,
  readStoreFile,
  readStoreFiles,
  STORE_KIND,
  toUnknownStore,
  type VectorParts,
} from "./kept-store.ts";

export interface StoreFileObject {
  readonly id: string;
  readonly object: "vector_store.file";
  readonly usage_bytes: number;
  readonly created_at: number;
  readonly vector_store_id: string;
  readonly status: FileStatus;
  readonly last_error: FileError | null;
  readonly chunking_strategy: { readonly type: "static"; readonly static: Chunking };
  readonly attributes: FileAttributes;
}

export interface DeletedStoreFile {
  readonly id: string;
  readonly object: "vector_store.file.deleted";
  readonly deleted: true;
}

/** The text that was read from a file. */
export interface StoreFileContent {
  readonly object: "vector_store.file_content.page";
  readonly data: readonly { readonly type: "text"; readonly text: string }[];
  readonly has_more: false;
  readonly next_page: null;
}

const MAX_ATTRIBUTES = 16;
const MAX_KEY_CHARS = 64;
const MAX_VALUE_CHARS = 512;

const AttributeFields = z
  .record(
    z.string().max(MAX_KEY_CHARS),
    z.union([z.string().max(MAX_VALUE_CHARS), z.number(), z.boolean()]),
  )
  .superRefine((attributes, context) => {
    const count = Object.keys(attributes).length;
    if (count <= MAX_ATTRIBUTES) return;
    const message = `has ${count} pairs; at most ${MAX_ATTRIBUTES} are allowed`;
    context.addIssue({ code: "custom", message });
  });

/** The fields of a request that changes a file of a store. */
export const UpdateStoreFile = open({ attributes: AttributeFields.nullable() });

export const NewStoreFile = open({
  file_id: z.string(),
  attributes: AttributeFields.nullable().optional(),
  chunking_strategy: ChunkingStrategy.nullable().optional(),
});
export type NewStoreFile = z.infer<typeof NewStoreFile>;

interface Into {
  readonly tenant: string;
  readonly store: string;
  /** The batch that they are added with. */
  readonly batch: string | null;
}

/**
 * Checks that every file exists, then calls `before`, then adds them; a file that is in the store already is read
 * again. Rejects with `not_found` and changes nothing if one is missing.
 */
export async function addFiles(
  parts: FileIndexParts,
  into: Into,
  files: readonly NewStoreFile[],
  before: () => Promise<void> = async () => {},
): Promise<void> {
  const { tenant } = into;
  const names: string[] = [];
  for (const { file_id } of files) names.push((await getFile(parts, tenant, file_id)).filename);
  await before();
  const added: NewFile[] = files.map((file, at) => ({
    file,
    filename: names[at] ?? "",
    run: parts.makeId("run"),
    chunking: toChunking(file.chunking_strategy),
  }));
  for (const file of added) await putFile(parts, into, file);
  for (const file of added) await beginFile(parts, into, file);
}

interface NewFile {
  readonly file: NewStoreFile;
  readonly filename: string;
  readonly run: string;
  readonly chunking: Chunking;
}

/**
 * The run is written before the thing, so that a file which says `in_progress` has a run, whenever this process dies.
 */
async function putFile(
  parts: FileIndexParts,
  { tenant, store, batch }: Into,
  { file: { file_id, attributes }, filename, run, chunking }: NewFile,
): Promise<void> {
  const { shelf, clock, chunks, indexing } = parts;
  const place = { tenant, store, file: file_id };
  const key_id = parts.keyId ?? null;
  await indexing.promise(run, { ...place, chunking, key_id }, filename);
  const kept: KeptStoreFile = {
    file_id,
    filename,
    status: "in_progress",
    usage_bytes: 0,
    last_error: null,
    chunking,
    attributes: attributes ?? {},
    batch_id: batch,
    run_id: run,
  };
  const name = nameStoreFile(tenant, store, file_id);
  const thing = { ...name, parent: store, body: encodeStoreFile(kept), created_at_ms: clock.now() };
  const added = await shelf.putUnder(nameStore(tenant, store), [{ ...thing, expires_at_ms: null }]);
  if (added === undefined) {
    await indexing.remove(run);
    throw toUnknownStore(store);
  }
  if (added > 0) return;
  let old: string | undefined;
  await shelf.change(name, (body) => {
    const { run_id } = readStoreFile({ body });
    // The record makes the change again if its answer was lost: then the file names this run already.
    if (run_id !== run) old = run_id;
    return thing.body;
  });
  if (old !== undefined) await indexing.remove(old);
  await chunks.trim(place, 0);
}

/**
 * A run that began before its thing was written has ended without effect: only after a very slow write.
 */
async function beginFile(
  { shelf, indexing }: FileIndexParts,
  { tenant, store }: Into,
  { file, run }: NewFile,
): Promise<void> {
  if (await indexing.begin(run)) return;
  const message = "The server was too busy to index the file. Add it again.";
  await shelf.change(nameStoreFile(tenant, store, file.file_id), (body) => {
    const kept = readStoreFile({ body });
    if (kept.run_id !== run || kept.status !== "in_progress") return undefined;
    const last_error: FileError = { code: "server_error", message };
    return encodeStoreFile({ ...kept, status: "failed", last_error });
  });
}

export async function createStoreFile(
  parts: FileIndexParts,
  tenant: string,
  store: string,
  body: unknown,
): Promise<StoreFileObject> {
  const asked = parseAs(NewStoreFile, body, "request");
  await findStore(parts, tenant, store);
  await addFiles(parts, { tenant, store, batch: null }, [asked]);
  return getStoreFile(parts, tenant, { store, file: asked.file_id });
}

export interface FileOf {
  readonly store: string;
  readonly file: string;
}

export async function getStoreFile(
  parts: VectorParts,
  tenant: string,
  { store, file }: FileOf,
): Promise<StoreFileObject> {
  await findStore(parts, tenant, store);
  return toStoreFile(await findStoreFile(parts, tenant, { store, file }));
}

/**
 * `query` is that of the address: `filter`, `limit`, `order`, `after`, `before`. `batch` narrows it.
 */
export async function listStoreFiles(
  parts: VectorParts,
  tenant: string,
  { store, batch }: { readonly store: string; readonly batch?: string | undefined },
  query: URLSearchParams,
): Promise<ListPage<StoreFileObject>> {
  const paging = parsePaging(query, { defaultOrder: "desc" });
  const status = parseStatus(query.get("filter"));
  await findStore(parts, tenant, store);
  const found: Thing[] = [];
  for await (const thing of readStoreFiles(parts.shelf, tenant, store)) {
    const kept = readStoreFile(thing);
    const isWanted = status === undefined || kept.status === status;
    if (isWanted && (batch === undefined || kept.batch_id === batch)) found.push(thing);
  }
  return cutPage(found.map(toStoreFile), paging);
}

/** The page of a list in memory, oldest first. An unknown edge gives an empty page. */
function cutPage(files: StoreFileObject[], { order, limit, after, before }: Paging) {
  if (order === "desc") files.reverse();
  const from = after === undefined ? 0 : files.findIndex(({ id }) => id === after) + 1;
  const to = before === undefined ? files.length : files.findIndex(({ id }) => id === before);
  if ((after !== undefined && from === 0) || to < from) return toWholePage<StoreFileObject>([]);
  const isBackwards = before !== undefined && after === undefined;
  const rest = files.slice(from, to);
  const page = isBackwards ? rest.slice(-limit) : rest.slice(0, limit);
  return toWholePage(page, rest.length > limit);
}

const STATUSES: readonly string[] = ["in_progress", "completed", "failed", "cancelled"];

function parseStatus(text: string | null): string | undefined {
  if (text === null || text === "") return undefined;
  if (STATUSES.includes(text)) return text;
  const message = `\`filter\` must be one of ${STATUSES.join(", ")}, not ${JSON.stringify(clip(text, 60))}.`;
  throw new Failure("invalid_request", message, { param: "filter" });
}

/** The new attributes replace the old completely. */
export async function updateStoreFile(
  parts: VectorParts,
  tenant: string,
  { store, file }: FileOf,
  body: unknown,
): Promise<StoreFileObject> {
  const asked = parseAs(UpdateStoreFile, body, "request");
  await findStore(parts, tenant, store);
  await findStoreFile(parts, tenant, { store, file });
  await parts.shelf.change(nameStoreFile(tenant, store, file), (written) =>
    encodeStoreFile({ ...readStoreFile({ body: written }), attributes: asked.attributes ?? {} }),
  );
  return getStoreFile(parts, tenant, { store, file });
}

/** Removes it from the store; the file itself stays. */
export async function deleteStoreFile(
  parts: FileIndexParts,
  tenant: string,
  { store, file }: FileOf,
): Promise<DeletedStoreFile> {
  await findStore(parts, tenant, store);
  await findStoreFile(parts, tenant, { store, file });
  await removeStoreFile(parts, tenant, { store, file });
  return { id: file, object: "vector_store.file.deleted", deleted: true };
}

export async function readStoreFileContent(
  parts: VectorParts,
  tenant: string,
  { store, file }: FileOf,
): Promise<StoreFileContent> {
  await findStore(parts, tenant, store);
  await findStoreFile(parts, tenant, { store, file });
  const pieces: Uint8Array[] = [];
  const name = nameStoreFile(tenant, store, file);
  for await (const piece of parts.shelf.readContent(name)) pieces.push(piece);
  const text = Buffer.concat(pieces).toString("utf8");
  return {
    object: "vector_store.file_content.page",
    data: text === "" ? [] : [{ type: "text", text }],
    has_more: false,
    next_page: null,
  };
}

/** Removes a file from every store that it is in, before it is deleted. */
export async function forgetFile(
  parts: FileIndexParts,
  tenant: string,
  file: string,
): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const among = { tenant, kind: STORE_KIND, order: "oldest", limit: 500 } as const;
    const stores = await parts.shelf.list({ ...among, after });
    for (const { id: store } of stores) {
      if (!(await parts.shelf.get(nameStoreFile(tenant, store, file)))) continue;
      await removeStoreFile(parts, tenant, { store, file });
    }
    after = stores.at(-1)?.id;
    if (stores.length < among.limit) return;
  }
}

/**
 * The record removes chunks and run with the thing. In memory, the run that writes chunks is ended first, and they
 * are removed one by one.
 */
async function removeStoreFile(
  { shelf, chunks, indexing }: FileIndexParts,
  tenant: string,
  { store, file }: FileOf,
): Promise<void> {
  const name = nameStoreFile(tenant, store, file);
  const thing = await shelf.get(name);
  await shelf.delete(name);
  if (thing) await indexing.remove(readStoreFile(thing).run_id);
  await chunks.trim({ tenant, store, file }, 0);
}

function toStoreFile(thing: Thing): StoreFileObject {
  const { file_id, usage_bytes, status, last_error, chunking, attributes } = readStoreFile(thing);
  return {
    id: file_id,
    object: "vector_store.file",
    usage_bytes,
    created_at: toSeconds(thing.created_at_ms),
    vector_store_id: thing.parent ?? "",
    status,
    last_error,
    chunking_strategy: { type: "static", static: chunking },
    attributes,
  };
}
