/**
 * A shelf with a limit on the bytes of each tenant. A thing that a client asks to store is refused when there is no
 * room; one that belongs to something that is stored already (the items of an answer, marks of the server's own) is
 * not, because half of a thing is worse than a little too much. All of it is counted.
 */

import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import { isLarge, measureInSlices } from "../base/json-pieces.ts";
import { mostJsonBytes } from "../base/json-size.ts";
import type { NewThing, Shelf, ThingName } from "./shelf.ts";

/** How much a tenant may store; undefined for any amount. */
export type QuotaOf = (tenant: string) => Promise<number | undefined>;

/** The kinds of things that clients create. */
const ASKED_FOR: ReadonlySet<string> = new Set([
  "response",
  "conversation",
  "file",
  "container",
  "container_file",
  "vector_store",
  "vector_store.file",
  "vector_store.batch",
]);

/** How many incoming bytes may pass between two checks; as many as are written at once. */
const LOOK_BYTES = 1024 * 1024;

export function limitShelf(shelf: Shelf, quotaOf: QuotaOf): Shelf {
  /** The quota for a thing; undefined if nothing limits it, and nothing has to be counted. */
  const findQuota = async ({ tenant, kind }: ThingName): Promise<number | undefined> =>
    ASKED_FOR.has(kind) ? await quotaOf(tenant) : undefined;
  const check = async (tenant: string, quota: number, more: number): Promise<void> => {
    const used = await shelf.countBytes(tenant);
    if (used + more > quota) throw toFull(quota, used);
  };
  /** A large body is measured in slices, and only if it may not fit. */
  const checkBody = async (tenant: string, quota: number, body: Json): Promise<void> => {
    if (!isLarge(body)) return await check(tenant, quota, sizeOf(body));
    const used = await shelf.countBytes(tenant);
    if (used + mostJsonBytes(body) <= quota) return;
    await check(tenant, quota, await measureInSlices(body, tenant));
  };
  const checkThing = async (thing: NewThing): Promise<void> => {
    const quota = await findQuota(thing);
    if (quota !== undefined) await checkBody(thing.tenant, quota, thing.body);
  };
  return {
    ...toPlain(shelf),
    async checkRoom(tenant, body) {
      const quota = await quotaOf(tenant);
      if (quota !== undefined) await checkBody(tenant, quota, body);
    },
    async countRoom(tenant) {
      const quota = await quotaOf(tenant);
      return quota === undefined
        ? undefined
        : Math.max(0, quota - (await shelf.countBytes(tenant)));
    },
    async put(thing) {
      await checkThing(thing);
      return await shelf.put(thing);
    },
    async putUnder(parent, things) {
      for (const thing of things) await checkThing(thing);
      return await shelf.putUnder(parent, things);
    },
    async claim(claim) {
      for (const thing of claim.things) await checkThing(thing);
      return await shelf.claim(claim);
    },
    async writeContent(name, bytes) {
      const quota = await findQuota(name);
      if (quota === undefined) return await shelf.writeContent(name, bytes);
      const checkMore = (more: number): Promise<void> => check(name.tenant, quota, more);
      return await shelf.writeContent(name, limit(bytes, checkMore));
    },
  };
}

/** Passes the bytes on, and calls `check` with the number of those that came since its last call. */
async function* limit(
  bytes: AsyncIterable<Uint8Array>,
  check: (more: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let unseen = 0;
  for await (const piece of bytes) {
    unseen += piece.byteLength;
    if (unseen >= LOOK_BYTES) {
      // Earlier bytes are written by now, and counted.
      await check(unseen);
      unseen = 0;
    }
    yield piece;
  }
  await check(unseen);
}

/** The calls that pass unchanged. */
function toPlain(
  shelf: Shelf,
): Omit<Shelf, "put" | "putUnder" | "claim" | "writeContent" | "checkRoom" | "countRoom"> {
  return {
    putAll: (things) => shelf.putAll(things),
    get: (name) => shelf.get(name),
    list: (query) => shelf.list(query),
    readChain: (chain) => shelf.readChain(chain),
    update: (name, body) => shelf.update(name, body),
    change: (name, change, toExpiry) => shelf.change(name, change, toExpiry),
    delete: (name) => shelf.delete(name),
    removeAll: (doomed, survives) => shelf.removeAll(doomed, survives),
    removeOrphans: (search) => shelf.removeOrphans(search),
    removeLeftover: () => shelf.removeLeftover(),
    giveBack: () => shelf.giveBack(),
    listExpired: (nowMs, limit) => shelf.listExpired(nowMs, limit),
    setExpiry: (name, expires_at_ms) => shelf.setExpiry(name, expires_at_ms),
    readContent: (name) => shelf.readContent(name),
    countBytes: (tenant) => shelf.countBytes(tenant),
  };
}

/** The size as it is counted. */
function sizeOf(body: Json): number {
  return Buffer.byteLength(JSON.stringify(body));
}

function toFull(quota: number, used: number): Failure {
  const message = `This key's tenant may store ${quota} bytes, and stores ${used}. Delete something first, or ask with \`store: false\`.`;
  return new Failure("too_large", message);
}
