/** Vector stores in the API's form, over a shelf and a store of chunks. */

import { z } from "zod";
import type { Json } from "../../base/json.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import { Metadata } from "../../protocol/request.ts";
import type { DoomedThing, Thing } from "../../store/shelf.ts";
import { findMade, keepFirst, type OnceKey } from "../tenant/idempotency.ts";
import { type ListPage, parsePaging, toPage, toThingQuery } from "../tenant/paging.ts";
import { toSeconds } from "../tenant/shelf-parts.ts";
import { ChunkingStrategy } from "./chunk-text.ts";
import {
  countFiles,
  encodeStore,
  type FileCounts,
  type FileIndexParts,
  findStore,
  type KeptStore,
  nameStore,
  readStore,
  readStoreFile,
  readStoreFiles,
  STORE_KIND,
  type VectorParts,
} from "./kept-store.ts";
import { addFiles } from "./store-files.ts";

export interface VectorStoreObject {
  readonly id: string;
  readonly object: "vector_store";
  readonly created_at: number;
  readonly name: string;
  readonly description?: string;
  readonly usage_bytes: number;
  readonly file_counts: FileCounts;
  readonly status: "expired" | "in_progress" | "completed";
  readonly expires_after?: { readonly anchor: "last_active_at"; readonly days: number };
  readonly expires_at: number | null;
  readonly last_active_at: number;
  readonly metadata: Metadata;
}

export interface DeletedVectorStore {
  readonly id: string;
  readonly object: "vector_store.deleted";
  readonly deleted: true;
}

const MAX_FILES = 500;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A store that is used often is not written each time. */
const TOUCH_MS = 60_000;

const ExpiresAfter = open({
  anchor: z.enum(["last_active_at"]),
  days: z.int().min(1).max(365),
});

const settings = {
  name: z.string().nullable().optional(),
  expires_after: ExpiresAfter.nullable().optional(),
  metadata: Metadata.nullable().optional(),
};

export const CreateStore = open({
  ...settings,
  description: z.string().nullable().optional(),
  file_ids: z.array(z.string()).max(MAX_FILES).nullable().optional(),
  chunking_strategy: ChunkingStrategy.nullable().optional(),
});

export const UpdateStore = open(settings);

/**
 * Rejects with `not_found` if a file does not exist, before anything is made. With a key it is made once: the key is
 * written when everything else is.
 */
export async function createStore(
  parts: FileIndexParts,
  tenant: string,
  body: unknown,
  once?: OnceKey,
): Promise<VectorStoreObject> {
  const { shelf, clock } = parts;
  const known = once && (await findMade(shelf, once, clock.now()));
  if (known !== undefined) return await getStore(parts, tenant, known);
  const id = await makeStore(parts, tenant, body);
  if (!once) return await getStore(parts, tenant, id);
  const undo = (): Promise<unknown> => deleteStore(parts, tenant, id);
  return await getStore(
    parts,
    tenant,
    await keepFirst(shelf, once, { made: id, undo }, clock.now()),
  );
}

async function makeStore(parts: FileIndexParts, tenant: string, body: unknown): Promise<string> {
  const asked = parseAs(CreateStore, body ?? {}, "request");
  const { chunking_strategy } = asked;
  const files = (asked.file_ids ?? []).map((file_id) => ({ file_id, chunking_strategy }));
  const id = parts.makeId("vs");
  const nowMs = parts.clock.now();
  const kept: KeptStore = {
    name: asked.name ?? "",
    description: asked.description ?? null,
    metadata: asked.metadata ?? {},
    expires_after_days: asked.expires_after?.days ?? null,
    last_active_at_ms: nowMs,
  };
  await addFiles(parts, { tenant, store: id, batch: null }, files, async () => {
    await parts.shelf.put({
      ...nameStore(tenant, id),
      parent: null,
      body: encodeStore(kept),
      created_at_ms: nowMs,
      expires_at_ms: toExpiryMs(kept),
    });
  });
  return id;
}

export async function getStore(
  parts: VectorParts,
  tenant: string,
  id: string,
): Promise<VectorStoreObject> {
  return toStoreObject(parts, await findStore(parts, tenant, id));
}

export async function listStores(
  parts: VectorParts,
  tenant: string,
  query: URLSearchParams,
): Promise<ListPage<VectorStoreObject>> {
  const paging = parsePaging(query, { defaultOrder: "desc" });
  const things = await parts.shelf.list(toThingQuery({ tenant, kind: STORE_KIND }, paging));
  const page = toPage(things, paging, (thing) => thing);
  const data = await Promise.all(page.data.map((thing) => toStoreObject(parts, thing)));
  return { ...page, data };
}

/** A field that is left out stays; `null` removes it. */
export async function updateStore(
  parts: VectorParts,
  tenant: string,
  id: string,
  body: unknown,
): Promise<VectorStoreObject> {
  const asked = parseAs(UpdateStore, body ?? {}, "request");
  await findStore(parts, tenant, id);
  const { name, metadata, expires_after } = asked;
  const change = (written: Json): Json => {
    const kept = readStore({ body: written });
    return encodeStore({
      ...kept,
      name: name === undefined ? kept.name : (name ?? ""),
      metadata: metadata === undefined ? kept.metadata : (metadata ?? {}),
      expires_after_days:
        expires_after === undefined ? kept.expires_after_days : (expires_after?.days ?? null),
    });
  };
  await parts.shelf.change(nameStore(tenant, id), change, toExpiryOf);
  return getStore(parts, tenant, id);
}

/** Deletes a vector store. Its files stay; their chunks are deleted. */
export async function deleteStore(
  parts: FileIndexParts,
  tenant: string,
  id: string,
): Promise<DeletedVectorStore> {
  await findStore(parts, tenant, id);
  await removeStore(parts, nameStore(tenant, id));
  return { id, object: "vector_store.deleted", deleted: true };
}

/** Removes a store that has expired by then, unless it is gone or was used meanwhile. */
export async function expireStore(
  parts: FileIndexParts,
  tenant: string,
  id: string,
  expiredBy: number,
): Promise<void> {
  await removeStore(parts, { ...nameStore(tenant, id), expiredBy });
}

async function removeStore(parts: FileIndexParts, doomed: DoomedThing): Promise<void> {
  const { tenant, id: store } = doomed;
  const runs: string[] = [];
  for await (const file of readStoreFiles(parts.shelf, tenant, store)) {
    runs.push(readStoreFile(file).run_id);
  }
  if ((await parts.shelf.removeAll([doomed])) === 0) return;
  for (const run of runs) await parts.indexing.remove(run);
  await parts.chunks.deleteStore({ tenant, store });
}

/** Each use of a store extends its life. */
export async function touchStore(parts: VectorParts, thing: Thing): Promise<void> {
  const nowMs = parts.clock.now();
  if (nowMs - readStore(thing).last_active_at_ms < TOUCH_MS) return;
  const name = nameStore(thing.tenant, thing.id);
  const change = (body: Json): Json =>
    encodeStore({ ...readStore({ body }), last_active_at_ms: nowMs });
  await parts.shelf.change(name, change, toExpiryOf);
}

export function isExpired({ expires_at_ms }: Thing, nowMs: number): boolean {
  return expires_at_ms !== null && expires_at_ms <= nowMs;
}

function toExpiryOf(body: Json): number | null {
  return toExpiryMs(readStore({ body }));
}

function toExpiryMs({ expires_after_days, last_active_at_ms }: KeptStore): number | null {
  return expires_after_days === null ? null : last_active_at_ms + expires_after_days * DAY_MS;
}

async function toStoreObject(parts: VectorParts, thing: Thing): Promise<VectorStoreObject> {
  const { id, tenant } = thing;
  const kept = readStore(thing);
  const { counts, usageBytes } = await countFiles(readStoreFiles(parts.shelf, tenant, id));
  const status = counts.in_progress > 0 ? "in_progress" : "completed";
  const { description, expires_after_days: days, metadata, name } = kept;
  const expiresMs = toExpiryMs(kept);
  return {
    id,
    object: "vector_store",
    created_at: toSeconds(thing.created_at_ms),
    name,
    ...(description === null ? {} : { description }),
    usage_bytes: usageBytes,
    file_counts: counts,
    status: isExpired(thing, parts.clock.now()) ? "expired" : status,
    ...(days === null ? {} : { expires_after: { anchor: "last_active_at", days } }),
    expires_at: expiresMs === null ? null : toSeconds(expiresMs),
    last_active_at: toSeconds(kept.last_active_at_ms),
    metadata,
  };
}
