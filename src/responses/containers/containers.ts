/**
 * Containers in the API's form, over a shelf: a container is a name for files that code works on, and ends when it
 * was not used for a while. A program in it is started by the response that uses it and ends with that response; the
 * files stay.
 */

import type { Json } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import type { Thing } from "../../store/shelf.ts";
import { type ListPage, parsePaging } from "../tenant/paging.ts";
import { type ShelfParts, toSeconds } from "../tenant/shelf-parts.ts";
import { collectPage } from "./collect-page.ts";
import { CONTAINER_KIND, nameContainer, toUnknownContainer } from "./container-name.ts";
import type { MemoryLimit, NewContainer } from "./new-container.ts";

const MINUTE_MS = 60_000;

export interface ContainerObject {
  readonly id: string;
  readonly object: "container";
  readonly name: string;
  readonly created_at: number;
  readonly status: "running";
  readonly last_active_at: number;
  readonly expires_after: { readonly anchor: "last_active_at"; readonly minutes: number };
  readonly memory_limit: MemoryLimit;
  readonly network_policy: { readonly type: "disabled" };
}

export interface DeletedContainer {
  readonly id: string;
  readonly object: "container.deleted";
  readonly deleted: true;
}

interface KeptContainer {
  readonly name: string;
  readonly minutes: number;
  readonly memory_limit: MemoryLimit;
  readonly last_active_ms: number;
}

type Reading = Pick<ShelfParts, "shelf" | "clock">;

/** Stores an empty container. If one with the same id exists, it stays as it is. */
export async function putContainer(
  { shelf, clock }: Reading,
  tenant: string,
  id: string,
  { name, minutes, memoryLimit }: Omit<NewContainer, "fileIds">,
): Promise<void> {
  const nowMs = clock.now();
  const kept: KeptContainer = { name, minutes, memory_limit: memoryLimit, last_active_ms: nowMs };
  const thing = {
    ...nameContainer({ tenant, containerId: id }),
    parent: null,
    body: encodeContainer(kept),
  };
  const expires_at_ms = nowMs + minutes * MINUTE_MS;
  const isNew = await shelf.put({ ...thing, created_at_ms: nowMs, expires_at_ms });
  if (isNew || (await isAlive({ shelf, clock }, tenant, id))) return;
  // The container has expired, but was not swept yet. Another call may have replaced it by now.
  await shelf.removeAll([{ ...nameContainer({ tenant, containerId: id }), expiredBy: nowMs }]);
  await shelf.put({ ...thing, created_at_ms: nowMs, expires_at_ms });
}

/**
 * Rejects with `not_found` if the container does not exist or it has expired, as all functions here do.
 */
export async function getContainer(
  parts: Reading,
  tenant: string,
  id: string,
): Promise<ContainerObject> {
  return toContainer(await findContainer(parts, tenant, id));
}

export async function isAlive(parts: Reading, tenant: string, id: string): Promise<boolean> {
  const thing = await parts.shelf.get(nameContainer({ tenant, containerId: id }));
  return thing !== undefined && isThere(thing, parts.clock.now());
}

/** `query` is that of the address: `name`, `limit`, `order`, `after`. */
export async function listContainers(
  { shelf, clock }: Reading,
  tenant: string,
  query: URLSearchParams,
): Promise<ListPage<ContainerObject>> {
  const paging = parsePaging(query, { defaultOrder: "desc" });
  const name = query.get("name") || undefined;
  const nowMs = clock.now();
  return await collectPage(shelf, {
    among: { tenant, kind: CONTAINER_KIND },
    paging,
    isWanted: (thing) =>
      isThere(thing, nowMs) && (name === undefined || readContainer(thing).name === name),
    toObject: toContainer,
  });
}

/** With all its files. */
export async function deleteContainer(
  parts: Reading,
  tenant: string,
  id: string,
): Promise<DeletedContainer> {
  await findContainer(parts, tenant, id);
  await parts.shelf.delete(nameContainer({ tenant, containerId: id }));
  return { id, object: "container.deleted", deleted: true };
}

/** Marks it as used: its time begins again. */
export async function touchContainer(
  { shelf, clock }: Reading,
  tenant: string,
  id: string,
): Promise<ContainerObject> {
  const thing = await findContainer({ shelf, clock }, tenant, id);
  const name = nameContainer({ tenant, containerId: id });
  const last_active_ms = clock.now();
  const { minutes } = readContainer(thing);
  const change = (body: Json): Json => ({ ...(body as object), last_active_ms }) as Json;
  await shelf.change(name, change, () => last_active_ms + minutes * MINUTE_MS);
  return toContainer({ ...thing, body: { ...(thing.body as object), last_active_ms } as Json });
}

async function findContainer(
  { shelf, clock }: Reading,
  tenant: string,
  id: string,
): Promise<Thing> {
  const thing = await shelf.get(nameContainer({ tenant, containerId: id }));
  if (thing && isThere(thing, clock.now())) return thing;
  throw toUnknownContainer(id);
}

function isThere({ expires_at_ms }: Thing, nowMs: number): boolean {
  return expires_at_ms === null || expires_at_ms > nowMs;
}

function toContainer({ id, body, created_at_ms }: Thing): ContainerObject {
  const { name, minutes, memory_limit, last_active_ms } = readContainer({ body });
  return {
    id,
    object: "container",
    name,
    created_at: toSeconds(created_at_ms),
    status: "running",
    last_active_at: toSeconds(last_active_ms),
    expires_after: { anchor: "last_active_at", minutes },
    memory_limit,
    // Nothing in a container reaches the network, whatever was requested.
    network_policy: { type: "disabled" },
  };
}

const STORED = storedObject<KeptContainer>("a container", ["name", "minutes"]);

function encodeContainer(container: KeptContainer): Json {
  return STORED.write(container);
}

function readContainer({ body }: Pick<Thing, "body">): KeptContainer {
  return STORED.read(body);
}
