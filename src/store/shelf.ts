/**
 * The contract of what a server stores for its tenants: responses, conversations, files, vector stores, containers,
 * keys. One kind of row for all of them, so that isolation is one rule: every call names the tenant, and things of
 * other tenants do not exist for it.
 *
 * Three implementations, memory, SQLite and Postgres, and one suite (`test/store/shelf-contract.ts`).
 */

import type { Json } from "../base/json.ts";

export interface Shelf {
  /** False, and no change, when the tenant has a thing of this kind and id. */
  put(thing: NewThing): Promise<boolean>;
  /**
   * Stores those that do not exist yet, in one transaction. A reader that lists the things of a parent sees all of
   * them or none, and those of another call before or after all of these.
   */
  putAll(things: readonly NewThing[]): Promise<void>;
  /**
   * The same for things that belong to `parent`, if it exists: returns how many were new. Undefined, and stores nothing,
   * if it does not. So nothing is stored under a thing that is deleted at the same time.
   */
  putUnder(parent: ThingName, things: readonly NewThing[]): Promise<number | undefined>;
  /**
   * Stores `claim` and the things that come with it, in one transaction. If there is a thing with the claim's name
   * that `isOver` does not release, nothing is stored, and that thing is returned without its body.
   */
  claim(claim: Claim): Promise<ThingHead | undefined>;
  get(name: ThingName): Promise<Thing | undefined>;
  /** In the order they were put, or the opposite. */
  list(query: ThingQuery): Promise<Thing[]>;
  /**
   * A chain of things of one kind, each of which names the next one in a field of its body, and beside each the thing
   * of another kind with the same id. Begins with `id`, and is empty if there is no such thing. It may end before its
   * end, also for reasons of the store: the caller asks again from the name in the last thing.
   */
  readChain(chain: ThingChain): Promise<ChainLink[]>;
  /** Replaces its body. False when it does not exist. */
  update(name: ThingName, body: Json): Promise<boolean>;
  /**
   * Changes the body in one transaction, so that of two concurrent changes both count. Undefined when the thing does
   * not exist; `change` must be pure, and may return undefined to leave it as it is. `toExpiry` gives the expiry that
   * goes with the new body; without it the expiry stays.
   */
  change(
    name: ThingName,
    change: (body: Json) => Json | undefined,
    toExpiry?: (body: Json) => number | null,
  ): Promise<Json | undefined>;
  /** Removes it, its bytes, and everything whose parent it is, at any depth. False when it does not exist. */
  delete(name: ThingName): Promise<boolean>;
  /**
   * Removes things as `delete` does, each with its run and all runs below that one, in one transaction: after a crash
   * all of it is there, or nothing. Returns how many of the things existed. Surviving only the end of the `process` is
   * faster: for a caller that finds the things again if they come back.
   */
  removeAll(doomed: readonly DoomedThing[], survives?: "process" | "power"): Promise<number>;
  /**
   * Removes runs whose thing is gone, with all below them, among the next `limit` runs of the record. Returns where to
   * continue, and undefined at the end.
   */
  removeOrphans(search: OrphanSearch): Promise<number | undefined>;
  /**
   * Removes one large value whose writer died before anything referred to it. False if there is none; true if there
   * may be more.
   */
  removeLeftover(): Promise<boolean>;
  /** Returns space that removals left in the file to the system, a little at a time; false when done. */
  giveBack(): Promise<boolean>;
  /** Expired things of all tenants, the oldest first. */
  listExpired(nowMs: number, limit: number): Promise<ThingName[]>;
  /** When it expires; null for never. */
  setExpiry(name: ThingName, expires_at_ms: number | null): Promise<boolean>;

  /** Stores the bytes of a thing, replacing earlier ones. Whole or not at all; returns how many. */
  writeContent(name: ThingName, bytes: AsyncIterable<Uint8Array>): Promise<number>;
  /** In pieces of a megabyte at most; empty if there are none. */
  readContent(name: ThingName): AsyncGenerator<Uint8Array>;

  /** The bytes that a tenant stores: bodies as JSON, contents, and the chunks made from them. */
  countBytes(tenant: string): Promise<number>;
  /** Rejects with `too_large` if a tenant may not store such a body, too; never without a limit. */
  checkRoom(tenant: string, body: Json): Promise<void>;
  /** How many more bytes a tenant may store; undefined, or missing, without a limit. */
  countRoom?(tenant: string): Promise<number | undefined>;
}

export interface ThingName {
  /** The owner. The server's own things (keys) belong to the tenant with no name. */
  readonly tenant: string;
  /** `response`, `conversation`, `file`: a kind has its own ids. */
  readonly kind: string;
  readonly id: string;
}

export interface DoomedThing extends ThingName {
  /** The run it stands for, which is removed in any case; undefined if there is none. */
  readonly run?: string | undefined;
  /**
   * The thing is removed only if it has expired by then: since it was found, it may have been used, or its name may
   * have been given to another one.
   */
  readonly expiredBy?: number | undefined;
}

/** Which runs stand for which things: their ids differ only by their prefixes. */
export interface OrphanSearch {
  /** The body of the runs. */
  readonly name: string;
  readonly kind: string;
  readonly runPrefix: string;
  readonly thingPrefix: string;
  /** The result of the search before; 0 to begin with. */
  readonly after: number;
  readonly limit: number;
}

export interface NewThing extends ThingName {
  /** The id of the thing it belongs to, of any kind; null for none. */
  readonly parent: string | null;
  readonly body: Json;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
}

export interface Claim {
  readonly claim: NewThing;
  readonly things: readonly NewThing[];
  /** True if the existing thing may be replaced. Pure: it is called within the transaction. */
  readonly isOver: (held: ThingHead) => boolean;
}

export interface Thing extends NewThing {
  /** Grows with each thing that is put. */
  readonly position: number;
}

/** A thing without its body, which may be large. */
export type ThingHead = Omit<Thing, "body">;

export interface ThingChain extends ThingName {
  /** The first field of the bodies: text, or null at the end of the chain. */
  readonly field: string;
  /** The kind of the things beside them. */
  readonly beside: string;
  readonly limit: number;
}

export interface ChainLink {
  readonly thing: Thing;
  readonly beside: Thing | undefined;
}

/** Joins rows that came in the order of the chain. */
export function toChainLinks(things: readonly Thing[], { kind }: ThingChain): ChainLink[] {
  const links = things.filter((thing) => thing.kind === kind);
  return links.map((thing) => ({
    thing,
    beside: things.find((other) => other.kind !== kind && other.id === thing.id),
  }));
}

export interface ThingQuery {
  readonly tenant: string;
  readonly kind: string;
  /** Only those that belong to this one. */
  readonly parent?: string | undefined;
  readonly order: "oldest" | "newest";
  readonly limit: number;
  /** Only those after this id in the requested order; empty for an id that does not exist. */
  readonly after?: string | undefined;
  /** Only those before this id in the requested order; without `after`, the page next to it. */
  readonly before?: string | undefined;
}
