/**
 * The data of a server, in maps: for tests, and for servers that must not write to disk. Bodies are kept by reference,
 * because their type is readonly; bytes are copied.
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import { toPieces } from "../pieces.ts";
import { toContentLost, toUnknownThing } from "../refusal.ts";
import type {
  ChainLink,
  Claim,
  DoomedThing,
  NewThing,
  Shelf,
  Thing,
  ThingChain,
  ThingHead,
  ThingName,
  ThingQuery,
} from "../shelf.ts";
import { noteRead } from "../shelf-reads.ts";
import type { Store } from "../store.ts";

/**
 * `runs` is the store with the runs of things: `removeAll` removes those runs too, and they bring things with them.
 */
export function createMemoryShelf(runs?: Pick<Store, "deleteTree" | "keepThings">): CountedShelf {
  const shelf = new MemoryShelf(runs);
  runs?.keepThings?.(shelf);
  return shelf;
}

export interface CountedShelf extends Shelf {
  /** The things that exist, by tenant and kind. */
  names(): Iterable<Pick<ThingName, "tenant" | "kind">>;
}

interface Entry {
  /** Replaced, never changed in place. */
  thing: Thing;
  content: readonly Uint8Array[];
  /** Counts the writers, so that the one that began last wins. */
  writers: number;
  /** Which of them wrote `content`. */
  writtenBy: number;
}

class MemoryShelf implements CountedShelf {
  /** By name, in the order they were put. */
  readonly #entries = new Map<string, Entry>();
  readonly #runs: Pick<Store, "deleteTree"> | undefined;
  #position = 0;

  constructor(runs: Pick<Store, "deleteTree"> | undefined) {
    this.#runs = runs;
  }

  has(name: ThingName): boolean {
    return this.#entries.has(toKey(name));
  }

  async put(thing: NewThing): Promise<boolean> {
    const key = toKey(thing);
    if (this.#entries.has(key)) return false;
    const stored = toThing(thing, ++this.#position);
    this.#entries.set(key, { thing: stored, content: [], writers: 0, writtenBy: 0 });
    return true;
  }

  async putAll(things: readonly NewThing[]): Promise<void> {
    for (const thing of things) await this.put(thing);
  }

  async putUnder(parent: ThingName, things: readonly NewThing[]): Promise<number | undefined> {
    if (!this.#entries.has(toKey(parent))) return undefined;
    const before = this.#entries.size;
    // Nothing comes between them: `put` waits for nothing.
    for (const thing of things) void this.put(thing);
    return this.#entries.size - before;
  }

  async claim({ claim, things, isOver }: Claim): Promise<ThingHead | undefined> {
    const held = this.#entries.get(toKey(claim))?.thing;
    if (held && !isOver(held)) return held;
    this.#entries.delete(toKey(claim));
    // Each is stored before the next is read: `put` waits for nothing.
    for (const thing of [claim, ...things]) void this.put(thing);
    return undefined;
  }

  async get(name: ThingName): Promise<Thing | undefined> {
    noteRead(name.kind);
    return this.#entries.get(toKey(name))?.thing;
  }

  async list(query: ThingQuery): Promise<Thing[]> {
    noteRead(query.kind);
    const { order, limit, after, before } = query;
    const things = [...this.#entries.values()]
      .map(({ thing }) => thing)
      .filter((thing) => thing.tenant === query.tenant && thing.kind === query.kind)
      .filter((thing) => query.parent === undefined || thing.parent === query.parent);
    if (order === "newest") things.reverse();
    const from = after === undefined ? 0 : things.findIndex(({ id }) => id === after) + 1;
    if (after !== undefined && from === 0) return [];
    const to = before === undefined ? things.length : things.findIndex(({ id }) => id === before);
    if (to < from) return [];
    const isBackwards = before !== undefined && after === undefined;
    return things.slice(isBackwards ? Math.max(to - limit, 0) : from, to).slice(0, limit);
  }

  async readChain({ tenant, kind, id, field, beside, limit }: ThingChain): Promise<ChainLink[]> {
    noteRead(kind);
    noteRead(beside);
    const links: ChainLink[] = [];
    for (let next: unknown = id; typeof next === "string" && links.length < limit; ) {
      const thing = this.#entries.get(toKey({ tenant, kind, id: next }))?.thing;
      if (!thing) break;
      const other = this.#entries.get(toKey({ tenant, kind: beside, id: next }))?.thing;
      links.push({ thing, beside: other });
      next = isJsonObject(thing.body) ? thing.body[field] : null;
    }
    return links;
  }

  async update(name: ThingName, body: Json): Promise<boolean> {
    return (await this.change(name, () => body)) !== undefined;
  }

  async change(
    name: ThingName,
    change: (body: Json) => Json | undefined,
    toExpiry?: (body: Json) => number | null,
  ): Promise<Json | undefined> {
    const entry = this.#entries.get(toKey(name));
    if (!entry) return undefined;
    const body = change(entry.thing.body);
    const expiry = body === undefined ? undefined : toExpiry?.(body);
    if (body !== undefined) entry.thing = { ...entry.thing, body };
    if (expiry !== undefined) entry.thing = { ...entry.thing, expires_at_ms: expiry };
    return entry.thing.body;
  }

  async delete(name: ThingName): Promise<boolean> {
    const first = this.#entries.get(toKey(name));
    if (!first) return false;
    const doomed = new Set([first.thing]);
    // Iterating over a set also reaches what is added meanwhile, each entry once.
    for (const { id } of doomed) {
      for (const { thing } of this.#entries.values()) {
        if (thing.tenant === name.tenant && thing.parent === id) doomed.add(thing);
      }
    }
    for (const thing of doomed) this.#entries.delete(toKey(thing));
    return true;
  }

  async removeAll(doomed: readonly DoomedThing[]): Promise<number> {
    let removed = 0;
    for (const thing of doomed) {
      if (this.#isDoomed(thing) && (await this.delete(thing))) removed++;
      if (thing.run !== undefined) await this.#runs?.deleteTree(thing.run);
    }
    return removed;
  }

  #isDoomed({ expiredBy, ...name }: DoomedThing): boolean {
    if (expiredBy === undefined) return true;
    const expiry = this.#entries.get(toKey(name))?.thing.expires_at_ms ?? null;
    return expiry !== null && expiry <= expiredBy;
  }

  /** Nothing survives a crash here. */
  async removeOrphans(): Promise<undefined> {}

  async removeLeftover(): Promise<boolean> {
    return false;
  }

  async giveBack(): Promise<boolean> {
    return false;
  }

  async listExpired(nowMs: number, limit: number): Promise<ThingName[]> {
    const expiry = ({ expires_at_ms }: Thing): number => expires_at_ms ?? Number.POSITIVE_INFINITY;
    return [...this.#entries.values()]
      .map(({ thing }) => thing)
      .filter((thing) => expiry(thing) <= nowMs)
      .sort((a, b) => expiry(a) - expiry(b))
      .slice(0, limit);
  }

  async setExpiry(name: ThingName, expires_at_ms: number | null): Promise<boolean> {
    const entry = this.#entries.get(toKey(name));
    if (!entry) return false;
    entry.thing = { ...entry.thing, expires_at_ms };
    return true;
  }

  async writeContent(name: ThingName, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    const key = toKey(name);
    const entry = this.#entries.get(key);
    if (!entry) throw toUnknownThing(name);
    const writer = ++entry.writers;
    const pieces: Uint8Array[] = [];
    for await (const piece of toPieces(bytes)) pieces.push(piece);
    const now = this.#entries.get(key);
    if (!now) throw toUnknownThing(name);
    if (now !== entry || entry.writtenBy > writer) throw toContentLost(name);
    entry.content = pieces;
    entry.writtenBy = writer;
    return pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  }

  *names(): Generator<Pick<ThingName, "tenant" | "kind">> {
    for (const { thing } of this.#entries.values()) yield thing;
  }

  /** Counted on request: little is kept in memory. */
  async countBytes(tenant: string): Promise<number> {
    let sum = 0;
    for (const { thing, content } of this.#entries.values()) {
      if (thing.tenant !== tenant) continue;
      sum += Buffer.byteLength(JSON.stringify(thing.body));
      for (const piece of content) sum += piece.byteLength;
    }
    return sum;
  }

  async checkRoom(): Promise<void> {}

  async *readContent(name: ThingName): AsyncGenerator<Uint8Array> {
    const key = toKey(name);
    const entry = this.#entries.get(key);
    for (const piece of entry?.content ?? []) {
      // Removed in the middle of reading: a part must not pass for the whole.
      if (this.#entries.get(key) !== entry) throw toContentLost(name);
      yield piece.slice();
    }
  }
}

function toKey({ tenant, kind, id }: ThingName): string {
  return JSON.stringify([tenant, kind, id]);
}

function toThing(thing: NewThing, position: number): Thing {
  const { tenant, kind, id, parent, body, created_at_ms, expires_at_ms } = thing;
  return { tenant, kind, id, parent, body, created_at_ms, expires_at_ms, position };
}
