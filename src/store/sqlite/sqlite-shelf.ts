/**
 * The data that a server stores, in the tables `things` and `contents` of the file that holds the runs.
 *
 * Bytes are written one piece in each transaction, so that a large file neither fills the memory nor delays others.
 * The last, empty piece makes them count: its transaction removes the older ones. Later writers have higher numbers.
 */

import type { Json } from "../../base/json.ts";
import { isLarge } from "../../base/json-pieces.ts";
import { toPieces } from "../pieces.ts";
import { toContentLost, toUnknownThing } from "../refusal.ts";
import {
  type ChainLink,
  type Claim,
  type DoomedThing,
  type NewThing,
  type OrphanSearch,
  type Shelf,
  type Thing,
  type ThingChain,
  type ThingHead,
  type ThingName,
  type ThingQuery,
  toChainLinks,
} from "../shelf.ts";
import { noteRead } from "../shelf-reads.ts";
import { toColumn } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteRow, SqliteValue } from "./sqlite-driver.ts";
import { removeLeftDraft } from "./sqlite-parts.ts";
import {
  DELETE_TREE,
  HEAD,
  insertAll,
  insertThing,
  LISTED,
  NAMED,
  readBody,
  readThings,
  setBody,
  toHead,
  toName,
  toNamed,
  toWriting,
} from "./sqlite-things.ts";
import { writeWith } from "./sqlite-values.ts";

/** How many pieces one writer can have: a terabyte of them. */
const GENERATION = 2 ** 20;

/** Free pages that stay in the file, 4 MB, because the next responses need them. */
const KEPT_PAGES = 1024;
/** Given back in one transaction: about a millisecond. */
const PAGES_AT_ONCE = 64;
/** The value of `pragma auto_vacuum` of files that can be made smaller a little at a time. */
const INCREMENTAL = 2;

/**
 * `union` takes each thing once, so that a loop of parents ends. Bytes go by their foreign key. The
 * cross join keeps its order: else SQLite 3.53 looks at every thing of the tenant.
 */
const DELETE_THING = `with recursive doomed (position, id) as (
    select position, id from things
    where ${NAMED} and coalesce(expires_at_ms <= ?, ?)
    union
    select below.position, below.id from doomed
    cross join things as below on below.tenant = ? and below.parent = doomed.id)
  delete from things where position in (select position from doomed)`;

/** A body in parts ends it: its names are not in its row. */
const READ_CHAIN = `with recursive chain (depth, link, next) as (
    select 1, id, case when parts is null then body ->> ?4 end from things
    where tenant = ?1 and kind = ?2 and id = ?3
    union all
    select chain.depth + 1, id, case when parts is null then body ->> ?4 end
    from chain cross join things on tenant = ?1 and kind = ?2 and id = chain.next
    where chain.depth < ?5)
  select ${LISTED} from chain cross join things on tenant = ?1 and kind in (?2, ?6) and id = chain.link
  order by chain.depth`;

const LAST_OF_PAGE = `select max(at) as last from
  (select rowid as at from runs where rowid > ? order by rowid limit ?)`;

/** Each tenant that keeps anything has a row in `storage`, so no index by id alone is needed. */
const FIND_ORPHANS = `select id from runs
  where rowid > ? and rowid <= ? and parent_id is null and name = ? and id glob ?
    and not exists (select 1 from storage cross join things
      on things.tenant = storage.tenant and things.kind = ? and things.id = ? || substr(runs.id, ?))`;

/** The caller closes the database. */
export function createSqliteShelf(db: SqliteDatabase): Shelf {
  return new SqliteShelf(db);
}

class SqliteShelf implements Shelf {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  async put(thing: NewThing): Promise<boolean> {
    const writing = toWriting([thing]);
    const added = await writeWith(this.#db, writing, ([body = ""]) =>
      insertThing(this.#db, thing, body),
    );
    return added > 0;
  }

  async putAll(things: readonly NewThing[]): Promise<void> {
    if (things.length === 0) return;
    await writeWith(this.#db, toWriting(things), (bodies) => insertAll(this.#db, things, bodies));
  }

  async putUnder(parent: ThingName, things: readonly NewThing[]): Promise<number | undefined> {
    return await writeWith(this.#db, toWriting(things), (bodies) =>
      this.#positionOf(parent) === undefined ? undefined : insertAll(this.#db, things, bodies),
    );
  }

  async claim({ claim, things, isOver }: Claim): Promise<ThingHead | undefined> {
    const all = [claim, ...things];
    return await writeWith(this.#db, toWriting(all), (bodies) => {
      const row = this.#db.get(`select ${HEAD} from things where ${NAMED}`, ...toNamed(claim));
      const held = row && toHead(row);
      if (held && !isOver(held)) return held;
      if (held) this.#db.run(`delete from things where ${NAMED}`, ...toNamed(claim));
      insertAll(this.#db, all, bodies);
      return undefined;
    });
  }

  async get(name: ThingName): Promise<Thing | undefined> {
    noteRead(name.kind);
    const row = this.#db.get(`select * from things where ${NAMED}`, ...toNamed(name));
    return row && (await readThings(this.#db, [row]))[0];
  }

  async list(query: ThingQuery): Promise<Thing[]> {
    noteRead(query.kind);
    const terms = ["tenant = ?", "kind = ?"];
    const values: SqliteValue[] = [toColumn(query.tenant), toColumn(query.kind)];
    if (query.parent !== undefined) {
      terms.push("parent = ?");
      values.push(toColumn(query.parent));
    }
    // The edges are looked up among the same things: the id of another parent's is not there.
    const edge = `(select position from things where ${terms.join(" and ")} and id = ?)`;
    const among = [...values];
    const isNewest = query.order === "newest";
    if (query.after !== undefined) {
      terms.push(`position ${isNewest ? "<" : ">"} ${edge}`);
      values.push(...among, toColumn(query.after));
    }
    if (query.before !== undefined) {
      terms.push(`position ${isNewest ? ">" : "<"} ${edge}`);
      values.push(...among, toColumn(query.before));
    }
    // Backwards, the page is the one next to the edge: it is read from there and turned round.
    const isBackwards = query.before !== undefined && query.after === undefined;
    const direction = isNewest === isBackwards ? "asc" : "desc";
    const sql = `select ${LISTED} from things where ${terms.join(" and ")} order by position ${direction} limit ?`;
    const things = await readThings(this.#db, this.#db.all(sql, ...values, query.limit));
    return isBackwards ? things.reverse() : things;
  }

  async readChain(chain: ThingChain): Promise<ChainLink[]> {
    const { tenant, kind, id, field, beside, limit } = chain;
    noteRead(kind);
    noteRead(beside);
    const [inTenant, ofKind, from] = toNamed({ tenant, kind, id });
    const values = [inTenant ?? "", ofKind ?? "", from ?? "", field, limit, toColumn(beside)];
    const rows = this.#db.all(READ_CHAIN, ...values);
    return toChainLinks(await readThings(this.#db, rows), chain);
  }

  async update(name: ThingName, body: Json): Promise<boolean> {
    const writing = { values: [body], durability: "power", tenant: name.tenant } as const;
    return await writeWith(this.#db, writing, ([ready = ""]) => setBody(this.#db, name, ready));
  }

  async change(
    name: ThingName,
    change: (body: Json) => Json | undefined,
    toExpiry?: (body: Json) => number | null,
  ): Promise<Json | undefined> {
    const done = await this.#db.write("power", () => {
      const row = this.#findBody(name);
      if (!row) return { body: undefined };
      if (row["parts"] !== null) return undefined;
      const body = JSON.parse(String(row["body"])) as Json;
      const changed = change(body);
      if (changed === undefined) return { body };
      if (isLarge(changed)) return undefined;
      setBody(this.#db, name, JSON.stringify(changed), toExpiry?.(changed));
      return { body: changed };
    });
    return done ? done.body : await this.#changeLarge(name, change, toExpiry);
  }

  /** A large body is read before the transaction and written before it: that counts if no other writer was faster. */
  async #changeLarge(
    name: ThingName,
    change: (body: Json) => Json | undefined,
    toExpiry?: (body: Json) => number | null,
  ): Promise<Json | undefined> {
    for (;;) {
      const row = this.#findBody(name);
      if (!row) return undefined;
      const body = await readBody(this.#db, row, name);
      const changed = body === undefined ? undefined : change(body);
      if (changed === undefined) {
        if (body !== undefined) return body;
        continue;
      }
      const writing = { values: [changed], durability: "power", tenant: name.tenant } as const;
      const isSet = await writeWith(this.#db, writing, ([ready = ""]) => {
        const now = this.#findBody(name);
        const isSame = now?.["parts"] === row["parts"] && now?.["body"] === row["body"];
        return isSame && setBody(this.#db, name, ready, toExpiry?.(changed));
      });
      if (isSet) return changed;
    }
  }

  async delete(name: ThingName): Promise<boolean> {
    return (await this.removeAll([name])) > 0;
  }

  async removeAll(
    doomed: readonly DoomedThing[],
    survives: "process" | "power" = "power",
  ): Promise<number> {
    if (doomed.length === 0) return 0;
    return await this.#db.write(survives, () => {
      let removed = 0;
      for (const thing of doomed) {
        const { tenant, expiredBy = null } = thing;
        const isAnyAge = expiredBy === null ? 1 : 0;
        const values = [...toNamed(thing), expiredBy, isAnyAge, toColumn(tenant)];
        if (this.#db.run(DELETE_THING, ...values) > 0) removed++;
        if (thing.run !== undefined) this.#db.run(DELETE_TREE, toColumn(thing.run));
      }
      return removed;
    });
  }

  async removeOrphans(search: OrphanSearch): Promise<number | undefined> {
    const { name, kind, runPrefix, thingPrefix, after, limit } = search;
    const last = this.#db.get(LAST_OF_PAGE, after, limit)?.["last"] ?? null;
    if (last === null) return undefined;
    const where = [after, Number(last), toColumn(name), `${runPrefix}*`];
    const thing = [toColumn(kind), thingPrefix, runPrefix.length + 1];
    const orphans = this.#db.all(FIND_ORPHANS, ...where, ...thing);
    if (orphans.length > 0) {
      await this.#db.write("power", () => {
        for (const { id } of orphans) this.#db.run(DELETE_TREE, id ?? null);
      });
    }
    return Number(last);
  }

  async removeLeftover(): Promise<boolean> {
    return await removeLeftDraft(this.#db);
  }

  async giveBack(): Promise<boolean> {
    const free = Number(this.#db.get("pragma freelist_count")?.["freelist_count"]);
    const isTrimmed = Number(this.#db.get("pragma auto_vacuum")?.["auto_vacuum"]) === INCREMENTAL;
    if (!isTrimmed || free <= KEPT_PAGES) return false;
    const pages = Math.min(free - KEPT_PAGES, PAGES_AT_ONCE);
    await this.#db.write("process", () => this.#db.all(`pragma incremental_vacuum(${pages})`));
    return free - pages > KEPT_PAGES;
  }

  async listExpired(nowMs: number, limit: number): Promise<ThingName[]> {
    const sql = `select tenant, kind, id from things
      where expires_at_ms <= ? order by expires_at_ms, position limit ?`;
    return this.#db.all(sql, nowMs, limit).map(toName);
  }

  async setExpiry(name: ThingName, expires_at_ms: number | null): Promise<boolean> {
    const sql = `update things set expires_at_ms = ? where ${NAMED}`;
    const values = [expires_at_ms, ...toNamed(name)];
    return (await this.#db.write("power", () => this.#db.run(sql, ...values))) > 0;
  }

  async writeContent(name: ThingName, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    if (this.#positionOf(name) === undefined) throw toUnknownThing(name);
    const writer: Writer = { name, position: undefined, first: 0, next: 0 };
    let written = 0;
    try {
      for await (const piece of toPieces(bytes)) {
        const place = await this.#db.write("process", () => this.#addPiece(writer, piece));
        Object.assign(writer, place);
        written += piece.byteLength;
      }
      await this.#db.write("power", () => this.#finish(writer));
      return written;
    } catch (thrown) {
      await this.#tryDrop(writer);
      throw thrown;
    }
  }

  async *readContent(name: ThingName): AsyncGenerator<Uint8Array> {
    const position = this.#positionOf(name);
    if (position === undefined) return;
    // The length of a blob is in its row's head: the bytes are not read for it.
    const end = this.#db.get(
      "select part from contents where position = ? and length(bytes) = 0 order by part desc limit 1",
      position,
    )?.["part"];
    if (end === undefined) return;
    const sql = "select bytes from contents where position = ? and part = ?";
    for (let part = Number(end) - (Number(end) % GENERATION); part < Number(end); part++) {
      // Removed or replaced in the middle of reading: a part must not pass for the whole.
      const isThere = this.#positionOf(name) === position;
      const bytes = isThere ? this.#db.get(sql, position, part)?.["bytes"] : undefined;
      if (!(bytes instanceof Uint8Array)) throw toContentLost(name);
      yield bytes;
    }
  }

  async countBytes(tenant: string): Promise<number> {
    const row = this.#db.get("select bytes from storage where tenant = ?", toColumn(tenant));
    return Number(row?.["bytes"] ?? 0);
  }

  async checkRoom(): Promise<void> {}

  /** Inside a transaction, which may be made again: gives where the writer is once it is written. */
  #addPiece(writer: Writer, bytes: Uint8Array): Omit<Writer, "name"> {
    const position = this.#checkedPosition(writer);
    // The first piece takes the writer's numbers.
    const isFirst = writer.position === undefined;
    const first = isFirst ? this.#nextGeneration(position) : writer.first;
    const part = isFirst ? first : writer.next;
    const sql = "insert into contents (position, part, bytes) values (?, ?, ?)";
    this.#db.run(sql, position, part, bytes);
    return { position, first, next: part + 1 };
  }

  /** Inside a transaction: the pieces count from here on, and the older ones go. */
  #finish(writer: Writer): void {
    const position = this.#checkedPosition(writer);
    const sql = "select count(*) as n from contents where position = ? and part >= ? and part < ?";
    const found = Number(this.#db.get(sql, position, writer.first, writer.next)?.["n"]);
    if (found !== writer.next - writer.first) throw toContentLost(writer.name);
    const { first } = this.#addPiece(writer, new Uint8Array(0));
    this.#db.run("delete from contents where position = ? and part < ?", position, first);
  }

  /** The thing may be gone, and its place taken by another's: so the name is asked each time. */
  #checkedPosition({ name, position }: Writer): number {
    const found = this.#positionOf(name);
    if (found === undefined) throw toUnknownThing(name);
    if (position !== undefined && position !== found) throw toContentLost(name);
    return found;
  }

  #nextGeneration(position: number): number {
    const sql = "select max(part) as last from contents where position = ?";
    const last = this.#db.get(sql, position)?.["last"] ?? null;
    return last === null ? 0 : (Math.floor(Number(last) / GENERATION) + 1) * GENERATION;
  }

  /** Removes the pieces, unless the last one is there: then they count, and only the wait for the disk failed. */
  async #tryDrop({ name, position, first, next }: Writer): Promise<void> {
    if (position === undefined) return;
    const sql = `delete from contents where position = ?1 and part >= ?2 and part < ?3
      and not exists (select 1 from contents where position = ?1 and part = ?3 and length(bytes) = 0)`;
    try {
      await this.#db.write("process", () => {
        if (this.#positionOf(name) === position) this.#db.run(sql, position, first, next);
      });
    } catch {
      // The caller throws the reason of the failed write; the next writer removes the pieces.
    }
  }

  #findBody(name: ThingName): SqliteRow | undefined {
    const sql = `select body, parts, position from things where ${NAMED}`;
    return this.#db.get(sql, ...toNamed(name));
  }

  #positionOf(name: ThingName): number | undefined {
    const row = this.#db.get(`select position from things where ${NAMED}`, ...toNamed(name));
    return row && Number(row["position"]);
  }
}

/** The state of a writer of bytes between its transactions. */
interface Writer {
  readonly name: ThingName;
  /** Where the thing is, and the numbers of the pieces; known with the first one. */
  position: number | undefined;
  first: number;
  next: number;
}
