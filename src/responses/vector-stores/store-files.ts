/** The files of vector stores: add, list, show, label, remove. Their text is made searchable behind the request. */

import { z } from "zod";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import type { Thing } from "../../store/shelf.ts";
import { getFile } from "../files/files.ts";
import { type Page, type Paging, parsePaging, toWholePage } from "../paging.ts";
import { toSeconds } from "../shelf-parts.ts";
import { type Chunking, ChunkingStrategy, toChunking } from "./chunk-text.ts";
import type { Attributes } from "./filters.ts";
import type { IndexQueue, IndexTicket } from "./index-queue.ts";
import {
  encodeKept,
  type FileError,
  type FileStatus,
  findStore,
  findStoreFile,
  type KeptStoreFile,
  nameStoreFile,
  readStoreFile,
  readStoreFiles,
  STORE_KIND,
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
  readonly attributes: Attributes;
}

export interface DeletedStoreFile {
  readonly id: string;
  readonly object: "vector_store.file.deleted";
  readonly deleted: true;
}

/** The text of a file as it was read. */
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

/** One file that is to be added, as requests name it. */
export const NewStoreFile = open({
  file_id: z.string(),
  attributes: AttributeFields.nullable().optional(),
  chunking_strategy: ChunkingStrategy.nullable().optional(),
});
export type NewStoreFile = z.infer<typeof NewStoreFile>;

type Queued = VectorParts & { readonly queue: IndexQueue };

interface Into {
  readonly tenant: string;
  readonly store: string;
  /** The batch that they are added with. */
  readonly batch: string | null;
}

/**
 * Looks that every file is there, then calls `before`, then adds them; one that is in the store
 * already is read anew. Rejects with `not_found` and changes nothing where one is missing.
 */
export async function addFiles(
  parts: Queued,
  into: Into,
  files: readonly NewStoreFile[],
  before: () => Promise<void> = async () => {},
): Promise<void> {
  const { tenant, store } = into;
  const names: string[] = [];
  for (const { file_id } of files) names.push((await getFile(parts, tenant, file_id)).filename);
  await before();
  const tickets: IndexTicket[] = [];
  for (const [at, file] of files.entries()) {
    const ticket = await parts.queue.promise({ tenant, store, file: file.file_id });
    await putFile(parts, into, { ...file, filename: names[at] ?? "" });
    tickets.push(ticket);
  }
  for (const ticket of tickets) parts.queue.begin(ticket);
}

async function putFile(
  { shelf, clock }: VectorParts,
  { tenant, store, batch }: Into,
  file: NewStoreFile & { readonly filename: string },
): Promise<void> {
  const kept: KeptStoreFile = {
    file_id: file.file_id,
    filename: file.filename,
    status: "in_progress",
    usage_bytes: 0,
    last_error: null,
    chunking: toChunking(file.chunking_strategy),
    attributes: file.attributes ?? {},
    batch_id: batch,
  };
  const name = nameStoreFile(tenant, store, file.file_id);
  const thing = { ...name, parent: store, body: encodeKept(kept), created_at_ms: clock.now() };
  if (await shelf.put({ ...thing, expires_at_ms: null })) return;
  await shelf.update(name, thing.body);
}

export async function createStoreFile(
  parts: Queued,
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

/** `query` is that of the address: `filter`, `limit`, `order`, `after`, `before`. `batch` narrows it. */
export async function listStoreFiles(
  parts: VectorParts,
  tenant: string,
  { store, batch }: { readonly store: string; readonly batch?: string | undefined },
  query: URLSearchParams,
): Promise<Page<StoreFileObject>> {
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

/** The page of a list that is there whole, oldest first. An edge that is not in it gives nothing. */
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

/** The new attributes take the place of the old as a whole. */
export async function updateStoreFile(
  parts: VectorParts,
  tenant: string,
  { store, file }: FileOf,
  body: unknown,
): Promise<StoreFileObject> {
  const asked = parseAs(open({ attributes: AttributeFields.nullable() }), body, "request");
  await findStore(parts, tenant, store);
  await findStoreFile(parts, tenant, { store, file });
  await parts.shelf.change(nameStoreFile(tenant, store, file), (written) =>
    encodeKept({ ...readStoreFile({ body: written }), attributes: asked.attributes ?? {} }),
  );
  return getStoreFile(parts, tenant, { store, file });
}

/** Takes it out of the store; the file itself stays. */
export async function deleteStoreFile(
  parts: VectorParts,
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

/** Takes a file out of every store that it is in: it is going to be deleted. */
export async function forgetFile(parts: VectorParts, tenant: string, file: string): Promise<void> {
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

/** In this order: whoever is indexing it finds it gone, and removes what it wrote behind us. */
async function removeStoreFile(
  { shelf, chunks }: VectorParts,
  tenant: string,
  { store, file }: FileOf,
): Promise<void> {
  await shelf.delete(nameStoreFile(tenant, store, file));
  await chunks.trim({ tenant, store, file }, 0);
}

function toStoreFile(thing: Thing): StoreFileObject {
  const { file_id, usage_bytes, status, last_error, chunking, attributes } = readStoreFile(thing);
  return {
    ...{ id: file_id, object: "vector_store.file", usage_bytes },
    created_at: toSeconds(thing.created_at_ms),
    vector_store_id: thing.parent ?? "",
    ...{ status, last_error },
    chunking_strategy: { type: "static", static: chunking },
    attributes,
  };
}
