/**
 * The data of a server, in the tables `things` and `contents` of the database that holds the runs.
 *
 * Bytes are written with a transaction for each piece, so that no transaction is as long as an upload. They count once
 * the last, empty piece is there: the transaction that adds it removes the older ones. Each writer has numbers of its
 * own (`GENERATION` apart), later writers have higher ones.
 */

import type { Json } from "../../base/json.ts";
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
  type ThingName,
  type ThingQuery,
  toChainLinks,
} from "../shelf.ts";
import { noteRead } from "../shelf-reads.ts";
import { toColumn } from "../text-column.ts";
import type { PostgresDatabase, Queries, Reads } from "./postgres-database.ts";
import type { PostgresValue } from "./postgres-driver.ts";
import {
  DELETE_THING,
  DELETE_TREE,
  insertThings,
  lockParents,
  NAMED,
  toName,
  toNameColumns,
  toThing,
} from "./postgres-things.ts";

/** How many pieces one writer can have: a terabyte of them. */
const GENERATION = 2 ** 20;

const FIND_ORPHANS = `select id from offshoot.runs
  where number > $1 and number <= $2 and parent_id is null and name = $3
    and starts_with(id, $4) and not exists (select 1 from offshoot.things
      where things.kind = $5 and things.id = $6 || substr(runs.id, $7))`;

const SET_EXPIRY = `update offshoot.things set expires_at_ms = $4 where ${NAMED}`;

/** The caller closes the database. */
export function createPostgresShelf(db: PostgresDatabase): Shelf {
  return new PostgresShelf(db);
}

const READ_CHAIN = `with recursive chain (depth, link, next) as (
    select 1, id, substring(body from $4) from offshoot.things
    where tenant = $1 and kind = $2 and id = $3
    union all
    select chain.depth + 1, t.id, substring(t.body from $4)
    from chain join offshoot.things as t on t.tenant = $1 and t.kind = $2 and t.id = chain.next
    where chain.depth < $5)
  select t.* from chain
  join offshoot.things as t on t.tenant = $1 and t.kind in ($2, $6) and t.id = chain.link
  order by chain.depth`;

class PostgresShelf implements Shelf {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  async put(thing: NewThing): Promise<boolean> {
    return await this.#db.transact(async (tx, isRetry) => {
      if ((await insertThings(tx, [thing])) > 0) return true;
      return isRetry && (await countSame(tx, [thing])) > 0;
    });
  }

  async putAll(things: readonly NewThing[]): Promise<void> {
    if (things.length > 0) await this.#db.transact((tx) => insertThings(tx, things));
  }

  async putUnder(parent: ThingName, things: readonly NewThing[]): Promise<number | undefined> {
    return await this.#db.transact(async (tx, isRetry) => {
      await lockParents(tx, [parent]);
      if ((await positionOf(tx, parent)) === undefined) return undefined;
      const added = await insertThings(tx, things);
      return isRetry ? await countSame(tx, things) : added;
    });
  }

  async claim({ claim, things, isOver }: Claim): Promise<Thing | undefined> {
    return await this.#db.transact(async (tx, isRetry) => {
      await lockName(tx, claim);
      const held = await find(tx, claim);
      if (held && isRetry && isSame(held.body, claim.body)) return undefined;
      if (held && !isOver(held)) return held;
      if (held) await tx.run(`delete from offshoot.things where ${NAMED}`, ...toNameColumns(claim));
      await insertThings(tx, [claim, ...things]);
      return undefined;
    });
  }

  async get(name: ThingName): Promise<Thing | undefined> {
    noteRead(name.kind);
    return await find(this.#db, name);
  }

  async list(query: ThingQuery): Promise<Thing[]> {
    noteRead(query.kind);
    const values: PostgresValue[] = [];
    const add = (value: PostgresValue): string => `$${values.push(value)}`;
    const terms = [
      `tenant = ${add(toColumn(query.tenant))}`,
      `kind = ${add(toColumn(query.kind))}`,
    ];
    if (query.parent !== undefined) terms.push(`parent = ${add(toColumn(query.parent))}`);
    // The edges are looked up among the same things: a thing of another parent is not found.
    const among = terms.join(" and ");
    const edge = (id: string): string =>
      `(select position from offshoot.things where ${among} and id = ${add(toColumn(id))})`;
    const isNewest = query.order === "newest";
    if (query.after !== undefined) {
      terms.push(`position ${isNewest ? "<" : ">"} ${edge(query.after)}`);
    }
    if (query.before !== undefined) {
      terms.push(`position ${isNewest ? ">" : "<"} ${edge(query.before)}`);
    }
    // Backwards, the page is the one next to the edge: it is read from there and reversed.
    const isBackwards = query.before !== undefined && query.after === undefined;
    const direction = isNewest === isBackwards ? "asc" : "desc";
    const sql = `select * from offshoot.things where ${terms.join(" and ")}
      order by position ${direction} limit ${add(query.limit)}`;
    const things = (await this.#db.all(sql, ...values)).map(toThing);
    return isBackwards ? things.reverse() : things;
  }

  async readChain(chain: ThingChain): Promise<ChainLink[]> {
    const { tenant, kind, id, field, beside, limit } = chain;
    noteRead(kind);
    noteRead(beside);
    // Not by functions for JSON: they refuse a body with `\\u0000` in any of its texts.
    const first = `^\\{"${field}":"([^"\\\\]+)"`;
    const values = [...toNameColumns({ tenant, kind, id }), first, limit, toColumn(beside)];
    return toChainLinks((await this.#db.all(READ_CHAIN, ...values)).map(toThing), chain);
  }

  async update(name: ThingName, body: Json): Promise<boolean> {
    return (await this.#db.write(({ run }) => setBody(run, name, body))) > 0;
  }

  async change(
    name: ThingName,
    change: (body: Json) => Json | undefined,
    toExpiry?: (body: Json) => number | null,
  ): Promise<Json | undefined> {
    return await this.#db.transact(async (tx) => {
      const sql = `select body from offshoot.things where ${NAMED} for update`;
      const row = await tx.get(sql, ...toNameColumns(name));
      if (!row) return undefined;
      const body = JSON.parse(String(row["body"])) as Json;
      const changed = change(body);
      if (changed !== undefined) await setBody(tx.run, name, changed);
      const expiry = changed === undefined ? undefined : toExpiry?.(changed);
      if (expiry !== undefined) await tx.run(SET_EXPIRY, ...toNameColumns(name), expiry);
      return changed === undefined ? body : changed;
    });
  }

  async delete(name: ThingName): Promise<boolean> {
    return (await this.removeAll([name])) > 0;
  }

  async removeAll(doomed: readonly DoomedThing[]): Promise<number> {
    if (doomed.length === 0) return 0;
    // Rows that an earlier try removed, whose answer was lost, are gone for the next one.
    let most = 0;
    return await this.#db.transact(async (tx) => {
      // The runs first: an ending has the lock of its run when it stores things, too.
      const unseen: string[] = [];
      for (const { run } of doomed) {
        if (run !== undefined && (await tx.run(DELETE_TREE, toColumn(run))) === 0) unseen.push(run);
      }
      await lockParents(tx, doomed);
      // One that was being stored with a need of these things: it had their lock, and is there now.
      for (const run of unseen) await tx.run(DELETE_TREE, toColumn(run));
      let removed = 0;
      for (const { expiredBy = null, ...name } of doomed) {
        if ((await tx.run(DELETE_THING, ...toNameColumns(name), expiredBy)) > 0) removed++;
      }
      most = Math.max(most, removed);
      return most;
    });
  }

  async removeOrphans(search: OrphanSearch): Promise<number | undefined> {
    const { name, kind, runPrefix, thingPrefix, after, limit } = search;
    const page = `select max(number) as last from (
      select number from offshoot.runs where number > $1 order by number limit $2) as page`;
    const last = (await this.#db.get(page, after, limit))?.["last"] ?? null;
    if (last === null) return undefined;
    const where = [after, Number(last), toColumn(name), runPrefix];
    const thing = [toColumn(kind), thingPrefix, runPrefix.length + 1];
    const orphans = await this.#db.all(FIND_ORPHANS, ...where, ...thing);
    if (orphans.length > 0) {
      await this.#db.transact(async (tx) => {
        for (const { id } of orphans) await tx.run(DELETE_TREE, String(id));
      });
    }
    return Number(last);
  }

  /** Large values are written in the transaction that refers to them: a crash leaves none. */
  async removeLeftover(): Promise<boolean> {
    return false;
  }

  /** Postgres does that by itself (autovacuum). */
  async giveBack(): Promise<boolean> {
    return false;
  }

  async listExpired(nowMs: number, limit: number): Promise<ThingName[]> {
    const sql = `select tenant, kind, id from offshoot.things
      where expires_at_ms <= $1 order by expires_at_ms, position limit $2`;
    return (await this.#db.all(sql, nowMs, limit)).map(toName);
  }

  async setExpiry(name: ThingName, expires_at_ms: number | null): Promise<boolean> {
    const values = [...toNameColumns(name), expires_at_ms];
    return (await this.#db.write(({ run }) => run(SET_EXPIRY, ...values))) > 0;
  }

  async writeContent(name: ThingName, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    if ((await positionOf(this.#db, name)) === undefined) throw toUnknownThing(name);
    const writer: Writer = { name, position: undefined, first: 0, next: 0 };
    let written = 0;
    try {
      for await (const piece of toPieces(bytes)) {
        // Only what was committed counts: another writer may have got the numbers of a try that was undone.
        Object.assign(writer, await this.#db.transact((tx) => addPiece(tx, writer, piece)));
        written += piece.byteLength;
      }
      await this.#db.transact((tx) => finish(tx, writer));
      return written;
    } catch (thrown) {
      await this.#tryDrop(writer);
      throw thrown;
    }
  }

  async *readContent(name: ThingName): AsyncGenerator<Uint8Array> {
    const position = await positionOf(this.#db, name);
    if (position === undefined) return;
    const last = await this.#db.get(
      `select part from offshoot.contents where position = $1 and length(bytes) = 0
        order by part desc limit 1`,
      position,
    );
    if (!last) return;
    const end = Number(last["part"]);
    const sql = `select c.bytes from offshoot.contents as c
      join offshoot.things as t on t.position = c.position
      where c.position = $4 and c.part = $5 and ${NAMED.replaceAll(/(tenant|kind|id) =/g, "t.$1 =")}`;
    for (let part = end - (end % GENERATION); part < end; part++) {
      // Removed or replaced in the middle of reading: a part must not pass for the whole.
      const row = await this.#db.get(sql, ...toNameColumns(name), position, part);
      const bytes = row?.["bytes"];
      if (!(bytes instanceof Uint8Array)) throw toContentLost(name);
      yield bytes;
    }
  }

  async countBytes(tenant: string): Promise<number> {
    const sql =
      "select coalesce(sum(bytes), 0)::bigint as n from offshoot.storage where tenant = $1";
    return Number((await this.#db.get(sql, toColumn(tenant)))?.["n"] ?? 0);
  }

  async checkRoom(): Promise<void> {}

  /** Removes the pieces, unless the last one is there: then they count, and only the answer to the commit was lost. */
  async #tryDrop({ name, position, first, next }: Writer): Promise<void> {
    if (position === undefined) return;
    const sql = `delete from offshoot.contents where position = $1 and part >= $2 and part <= $3
      and not exists (select 1 from offshoot.contents
        where position = $1 and part = $3 and length(bytes) = 0)`;
    try {
      await this.#db.transact(async (tx) => {
        if ((await positionOf(tx, name)) === position) await tx.run(sql, position, first, next);
      });
    } catch {
      // The caller throws the reason why the writing failed; the next writer removes the pieces.
    }
  }
}

/** A writer of bytes, between its transactions. */
interface Writer {
  readonly name: ThingName;
  /** Where the thing is, and the numbers of the pieces; known with the first one. */
  position: number | undefined;
  first: number;
  next: number;
}

/**
 * The first piece takes the writer's numbers. Returns where the writer is once it is committed. A later piece that is
 * written again, because the answer was lost, is there already.
 */
async function addPiece(
  tx: Queries,
  writer: Writer,
  bytes: Uint8Array,
): Promise<Omit<Writer, "name">> {
  const position = await checkedPosition(tx, writer);
  const isFirst = writer.position === undefined;
  const first = isFirst ? await nextGeneration(tx, position) : writer.first;
  const part = isFirst ? first : writer.next;
  const sql = `insert into offshoot.contents (position, part, bytes) values ($1, $2, $3)
    on conflict (position, part) do nothing`;
  await tx.run(sql, position, part, bytes);
  return { position, first, next: part + 1 };
}

/** From here on the pieces count, and the older ones are removed. */
async function finish(tx: Queries, writer: Writer): Promise<void> {
  const position = await checkedPosition(tx, writer);
  const sql = `select count(*) as n from offshoot.contents
    where position = $1 and part >= $2 and part < $3`;
  const found = Number((await tx.get(sql, position, writer.first, writer.next))?.["n"]);
  if (found !== writer.next - writer.first) throw toContentLost(writer.name);
  const { first } = await addPiece(tx, writer, new Uint8Array(0));
  const older = "delete from offshoot.contents where position = $1 and part < $2";
  await tx.run(older, position, first);
}

/** The thing may be gone, and another may have its position: so the name is checked each time. */
async function checkedPosition(tx: Queries, { name, position }: Writer): Promise<number> {
  const sql = `select position from offshoot.things where ${NAMED} for update`;
  const row = await tx.get(sql, ...toNameColumns(name));
  if (!row) throw toUnknownThing(name);
  const found = Number(row["position"]);
  if (position !== undefined && position !== found) throw toContentLost(name);
  return found;
}

async function nextGeneration(tx: Queries, position: number): Promise<number> {
  const sql = "select max(part) as last from offshoot.contents where position = $1";
  const last = (await tx.get(sql, position))?.["last"] ?? null;
  return last === null ? 0 : (Math.floor(Number(last) / GENERATION) + 1) * GENERATION;
}

/** Locks the name, because two claims of a new name have no row to wait for. */
async function lockName(tx: Queries, { tenant, kind, id }: ThingName): Promise<void> {
  const name = toColumn([tenant, kind, id].join("\n"));
  await tx.get("select pg_advisory_xact_lock(hashtextextended('name ' || $1, 0))", name);
}

/** How many of the things exist as they are: those that a try has stored whose answer was lost. */
async function countSame(tx: Queries, things: readonly NewThing[]): Promise<number> {
  let same = 0;
  for (const thing of things) {
    const found = await find(tx, thing);
    if (found?.created_at_ms === thing.created_at_ms && isSame(found.body, thing.body)) same++;
  }
  return same;
}

async function find(db: Reads, name: ThingName): Promise<Thing | undefined> {
  const row = await db.get(`select * from offshoot.things where ${NAMED}`, ...toNameColumns(name));
  return row && toThing(row);
}

async function positionOf(db: Reads, name: ThingName): Promise<number | undefined> {
  const sql = `select position from offshoot.things where ${NAMED}`;
  const row = await db.get(sql, ...toNameColumns(name));
  return row && Number(row["position"]);
}

async function setBody(run: Queries["run"], name: ThingName, body: Json): Promise<number> {
  const sql = `update offshoot.things set body = $4 where ${NAMED}`;
  return await run(sql, ...toNameColumns(name), JSON.stringify(body));
}

function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
