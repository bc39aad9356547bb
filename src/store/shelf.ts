/**
 * The contract of what a server keeps for its tenants: responses, conversations, files, stores of
 * vectors, containers, keys. One kind of row for all of them, so that isolation is one rule: every
 * call names the tenant, and what belongs to another one is not there.
 *
 * Three implementations, memory, SQLite and Postgres, and one suite (`test/store/shelf-contract.ts`).
 */

import type { Json } from "../base/json.ts";

export interface Shelf {
  /** False, and no change, when the tenant has a thing of this kind and id. */
  put(thing: NewThing): Promise<boolean>;
  /**
   * Puts those that are not there yet, in one transaction. Whoever lists the things of a parent sees all of
   * them or none, and those of another call before or after all of these.
   */
  putAll(things: readonly NewThing[]): Promise<void>;
  /**
   * Puts `claim` and the things that come with it, in one transaction. Where there is a thing by the claim's
   * name that `isOver` does not give up, nothing is put, and that thing is given back without its body.
   */
  claim(claim: Claim): Promise<ThingHead | undefined>;
  get(name: ThingName): Promise<Thing | undefined>;
  /** In the order they were put, or the opposite. */
  list(query: ThingQuery): Promise<Thing[]>;
  /** Gives it another body. False when it is not there. */
  update(name: ThingName, body: Json): Promise<boolean>;
  /**
   * Changes the body in one transaction, so that two who do it at once both count. Undefined when the
   * thing is not there; `change` must be pure, and may give undefined to leave it as it is. `survives` as
   * of `removeAll`.
   */
  change(
    name: ThingName,
    change: (body: Json) => Json | undefined,
    survives?: "process" | "power",
  ): Promise<Json | undefined>;
  /** Removes it, its bytes, and everything whose parent it is, at any depth. False when it is not there. */
  delete(name: ThingName): Promise<boolean>;
  /**
   * Removes things as `delete` does, each with its run and all runs below that one, in one transaction:
   * after a crash all of it is there, or nothing. Returns how many of the things were there. What is to
   * survive the end of the `process` alone is faster: for who finds it again if it comes back.
   */
  removeAll(doomed: readonly DoomedThing[], survives?: "process" | "power"): Promise<number>;
  /**
   * Removes runs whose thing is gone, with all below them, of the next `limit` runs of the record. Gives
   * where to go on, and undefined at the end.
   */
  removeOrphans(search: OrphanSearch): Promise<number | undefined>;
  /**
   * Removes one large value whose writer died before anything referred to it. False where there is none; true
   * where there may be more.
   */
  removeLeftover(): Promise<boolean>;
  /** Gives room that removals left in the file back to the system, a little at a time; false when done. */
  giveBack(): Promise<boolean>;
  /** Things of any tenant whose time is over, the oldest first. */
  listExpired(nowMs: number, limit: number): Promise<ThingName[]>;
  /** When it is to go; null for never. */
  setExpiry(name: ThingName, expires_at_ms: number | null): Promise<boolean>;

  /** Keeps the bytes of a thing, in place of those before. Whole or not at all; returns how many. */
  writeContent(name: ThingName, bytes: AsyncIterable<Uint8Array>): Promise<number>;
  /** In pieces of a megabyte at most; nothing where there is none. */
  readContent(name: ThingName): AsyncGenerator<Uint8Array>;

  /** What a tenant keeps: bodies as JSON, bytes, and the chunks that were made of them. */
  countBytes(tenant: string): Promise<number>;
  /** Rejects with `too_large` where a tenant may not keep such a body, too; never where nothing limits it. */
  checkRoom(tenant: string, body: Json): Promise<void>;
  /** How many more bytes a tenant may keep; undefined, or not there at all, where nothing limits it. */
  countRoom?(tenant: string): Promise<number | undefined>;
}

export interface ThingName {
  /** Whose it is. The server's own things (keys) belong to the tenant with no name. */
  readonly tenant: string;
  /** `response`, `conversation`, `file`: a kind has its own ids. */
  readonly kind: string;
  readonly id: string;
}

export interface DoomedThing extends ThingName {
  /** The run it stands for; undefined where there is none. */
  readonly run?: string | undefined;
}

/** Which runs stand for which things: their ids differ by their prefixes alone. */
export interface OrphanSearch {
  /** The body of the runs. */
  readonly name: string;
  readonly kind: string;
  readonly runPrefix: string;
  readonly thingPrefix: string;
  /** What the search before has given; 0 to begin with. */
  readonly after: number;
  readonly limit: number;
}

export interface NewThing extends ThingName {
  /** The id of the thing it goes with, of whatever kind; null for none. */
  readonly parent: string | null;
  readonly body: Json;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
}

export interface Claim {
  readonly claim: NewThing;
  readonly things: readonly NewThing[];
  /** Whether the one that is there may be replaced. Pure: it is asked within the transaction. */
  readonly isOver: (held: ThingHead) => boolean;
}

export interface Thing extends NewThing {
  /** Grows with each thing that is put. */
  readonly position: number;
}

/** A thing without its body, which may be large. */
export type ThingHead = Omit<Thing, "body">;

export interface ThingQuery {
  readonly tenant: string;
  readonly kind: string;
  /** Only those that go with this one. */
  readonly parent?: string | undefined;
  readonly order: "oldest" | "newest";
  readonly limit: number;
  /** Only those behind this id in the asked order; an id that is not there gives nothing. */
  readonly after?: string | undefined;
  /** Only those before this id in the asked order; without `after`, the page next to it. */
  readonly before?: string | undefined;
}
