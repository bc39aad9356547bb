/**
 * The Postgres database that a record is copied to. During the copy it has the table `copying`, and every other
 * process refuses it (`postgres/migrations.ts`). `copying_tables` says up to which key each table is copied: it is
 * written in the transaction of the rows, so that a killed copy continues exactly after them.
 *
 * Triggers are switched off meanwhile: what they count and remove is in the rows already.
 */

import { Failure } from "../../base/failure.ts";
import { COPYING, hasTable, LATEST, readVersion, verifyVersion } from "../postgres/migrations.ts";
import { toWords } from "../postgres/postgres-chunks.ts";
import type { PostgresDatabase, Queries } from "../postgres/postgres-database.ts";
import type { PostgresValue } from "../postgres/postgres-driver.ts";
import { insertThings } from "../postgres/postgres-things.ts";
import { dropVectorTable, makeVectorTable } from "../postgres/vector-table.ts";
import type { NewThing } from "../shelf.ts";
import { COPIED_TABLES, type CopiedTable } from "./copied-tables.ts";
import type { Batch, CopySource, RowKey } from "./copy-source.ts";
import { type Cell, type CopiedRow, isLargeText, toDigestSql } from "./row-digest.ts";
import type { CopyBegin } from "./store-copy.ts";

/** The mark of a finished copy. */
const COPIED = "copied";

/** How many digests are asked for at once: some of the rows may be large. */
const DIGESTS = 200;

/** Rejects a database with any other data, and one of another version. */
export async function beginCopy(
  db: PostgresDatabase,
  { path, stamp }: Pick<CopySource, "path" | "stamp">,
): Promise<CopyBegin> {
  await verifyVersion(db);
  return await db.transact(async (tx) => {
    await tx.run("lock table offshoot.version in exclusive mode");
    if ((await readVersion(tx)) !== LATEST) throw toDisturbed(db);
    if (await hasTable(tx, COPYING)) return await resume(tx, db, { path, stamp });
    await refuseFilled(tx, db);
    await dropVectorTable(tx);
    await tx.run(`create table offshoot.${COPYING} (source text not null, stamp text not null)`);
    await tx.run(`insert into offshoot.${COPYING} values ($1, $2)`, path, stamp);
    await tx.run(
      `create table offshoot.copying_tables (
        name text primary key, after text, rows bigint not null)`,
    );
    await tx.run(
      `create table offshoot.copying_pieces (
        id text not null, part integer not null, bytes bytea not null, primary key (id, part))`,
    );
    await startTables(tx);
    await switchTriggers(tx, "disable");
    return "new";
  });
}

async function resume(
  tx: Queries,
  db: PostgresDatabase,
  { path, stamp }: { readonly path: string; readonly stamp: string },
): Promise<CopyBegin> {
  const found = await tx.get(`select source, stamp from offshoot.${COPYING}`);
  if (found?.["source"] !== path) {
    const message = `The store \`${db.name}\` has an unfinished copy of \`${found?.["source"]}\`. Finish that one, or drop its schema \`offshoot\`.`;
    throw new Failure("conflict", message);
  }
  if (found["stamp"] === stamp) return "resumed";
  const tables = COPIED_TABLES.map(({ name }) => `offshoot."${name}"`).join(", ");
  await tx.run(`truncate ${tables}, offshoot.copying_tables, offshoot.copying_pieces`);
  await tx.run(`update offshoot.${COPYING} set stamp = $1`, stamp);
  await startTables(tx);
  return "restarted";
}

async function startTables(tx: Queries): Promise<void> {
  for (const { name } of COPIED_TABLES) {
    await tx.run("insert into offshoot.copying_tables values ($1, null, 0)", name);
  }
}

async function refuseFilled(tx: Queries, db: PostgresDatabase): Promise<void> {
  if (await hasTable(tx, COPIED)) {
    const row = await tx.get(`select source from offshoot.${COPIED}`);
    const message = `The store \`${db.name}\` is a finished copy of \`${row?.["source"]}\`. Nothing was copied.`;
    throw new Failure("conflict", message);
  }
  // Unlogged tables are about processes that run: they are gone with them.
  const tables = await tx.all(
    `select relname as tablename from pg_class where relnamespace = 'offshoot'::regnamespace
      and relkind = 'r' and relpersistence = 'p' and relname <> 'version'`,
  );
  for (const { tablename } of tables) {
    if (!(await tx.get(`select 1 from offshoot."${String(tablename)}" limit 1`))) continue;
    const message = `The store \`${db.name}\` has data already, in \`offshoot.${String(tablename)}\`. Name an empty database.`;
    throw new Failure("conflict", message);
  }
}

async function switchTriggers(tx: Queries, way: "enable" | "disable"): Promise<void> {
  for (const { name } of COPIED_TABLES) {
    await tx.run(`alter table offshoot."${name}" ${way} trigger user`);
  }
}

export interface TableProgress {
  /** The key of the last copied row; undefined if there is none. */
  readonly after: RowKey | undefined;
  readonly rows: number;
}

export async function readProgress(
  db: PostgresDatabase,
  table: CopiedTable,
): Promise<TableProgress> {
  const sql = "select after, rows from offshoot.copying_tables where name = $1";
  const row = await db.get(sql, table.name);
  const after = row?.["after"] ?? null;
  return {
    after: after === null ? undefined : (JSON.parse(String(after)) as RowKey),
    rows: Number(row?.["rows"] ?? 0),
  };
}

/** Adds the rows of a batch that comes after a key. A batch with a large text has one row. */
export async function writeBatch(
  db: PostgresDatabase,
  table: CopiedTable,
  after: RowKey | undefined,
  { rows, last }: Batch,
): Promise<void> {
  const from = after === undefined ? null : JSON.stringify(after);
  const to = JSON.stringify(last);
  await db.transact(async (tx) => {
    // All of it is lost together if the database crashes; the end of the copy waits for the disk.
    await tx.run("set local synchronous_commit = off");
    const sql = "select after from offshoot.copying_tables where name = $1 for update";
    const now = (await tx.get(sql, table.name))?.["after"];
    // An earlier try whose answer was lost has done it.
    if (now === to) return;
    if (now !== from) throw toDisturbed(db);
    await insertRows(tx, table, rows);
    await tx.run(
      "update offshoot.copying_tables set after = $2, rows = rows + $3 where name = $1",
      ...[table.name, to, rows.length],
    );
  });
}

/** Stores a large text, a piece at a time, before its row is written. */
export async function putPieces(
  db: PostgresDatabase,
  parts: string,
  pieces: Iterable<Uint8Array>,
): Promise<void> {
  await db.write(({ run }) => run("delete from offshoot.copying_pieces where id = $1", parts));
  const sql = `insert into offshoot.copying_pieces (id, part, bytes) values ($1, $2, $3)
    on conflict do nothing`;
  let part = 0;
  for (const bytes of pieces) {
    const values = [parts, part++, bytes] as const;
    await db.write(({ run }) => run(sql, ...values));
  }
}

const JOIN_PIECES = `select convert_from(string_agg(bytes, ''::bytea order by part), 'UTF8')
  from offshoot.copying_pieces where id =`;

async function insertRows(
  tx: Queries,
  table: CopiedTable,
  rows: readonly CopiedRow[],
): Promise<void> {
  const values: PostgresValue[] = [];
  const used: string[] = [];
  const toMark = (cell: Cell): string => {
    if (!isLargeText(cell)) return `$${values.push(cell)}`;
    used.push(cell.parts);
    return `(${JOIN_PIECES} $${values.push(cell.parts)})`;
  };
  const names = table.columns.map(({ name }) => name);
  const lists = rows.map((row) => `(${toFullRow(names, table, row).map(toMark).join(", ")})`);
  const columns = toFullNames(names, table).map((name) => `"${name}"`);
  const own = table.numbered ? "overriding system value" : "";
  await tx.run(
    `insert into offshoot."${table.name}" (${columns.join(", ")}) ${own} values ${lists.join(", ")}`,
    ...values,
  );
  for (const parts of used) {
    await tx.run("delete from offshoot.copying_pieces where id = $1", parts);
  }
}

/** SQLite has the words of chunks in an index of its own, so they are made again here. */
function toFullNames(names: readonly string[], { name }: CopiedTable): readonly string[] {
  return name === "chunks" ? [...names, "words"] : names;
}

function toFullRow(names: readonly string[], { name }: CopiedTable, row: CopiedRow): CopiedRow {
  return name === "chunks" ? [...row, toWords(String(row[names.indexOf("text")]))] : row;
}

/** The digests of all rows, in the order of their keys. */
export async function* readDigests(
  db: PostgresDatabase,
  table: CopiedTable,
): AsyncGenerator<readonly Uint8Array[]> {
  const keys = table.key.map((name) => `"${name}"`).join(", ");
  const marks = table.key.map((_, at) => `$${at + 2}`).join(", ");
  const columns = `${keys}, ${toDigestSql(table)} as _digest`;
  const page = (where: string): string =>
    `select ${columns} from offshoot."${table.name}" ${where} order by ${keys} limit $1`;
  let after: readonly PostgresValue[] = [];
  for (;;) {
    const where = after.length === 0 ? "" : `where (${keys}) > (${marks})`;
    const rows = await db.all(page(where), DIGESTS, ...after);
    const last = rows.at(-1);
    if (!last) return;
    after = table.key.map((name) => last[name] as PostgresValue);
    yield rows.map((row) => row["_digest"] as Uint8Array);
  }
}

/** From here on the database is a record like any other, with `things` added to what was copied. */
export async function finishCopy(
  db: PostgresDatabase,
  source: CopySource,
  things: readonly NewThing[],
): Promise<void> {
  // So that the first queries have a good plan: the server's own statistics come a minute later.
  for (const { name } of COPIED_TABLES)
    await db.write(({ run }) => run(`analyze offshoot."${name}"`));
  await db.transact(async (tx, isRetry) => {
    if (isRetry && (await hasTable(tx, COPIED))) return;
    for (const table of COPIED_TABLES) await setLastNumber(tx, table, source);
    await switchTriggers(tx, "enable");
    await insertThings(tx, things);
    await tx.run("drop table offshoot.copying_tables, offshoot.copying_pieces");
    await tx.run(`alter table offshoot.${COPYING} rename to ${COPIED}`);
  });
  // If this is interrupted, vectors are searched in memory until `store migrate`.
  await makeVectorTable(db);
}

async function setLastNumber(tx: Queries, table: CopiedTable, source: CopySource): Promise<void> {
  const last = source.readLastNumber(table);
  if (!table.numbered || last === 0) return;
  const sql = "select setval(pg_get_serial_sequence($1, $2), $3)";
  await tx.get(sql, `offshoot."${table.name}"`, table.numbered.column, last);
}

/** The next copy begins again: nothing of this one is trusted. */
export async function spoilCopy(db: PostgresDatabase): Promise<void> {
  await db.write(({ run }) => run(`update offshoot.${COPYING} set stamp = ''`));
}

function toDisturbed({ name }: PostgresDatabase): Failure {
  const message = `Another process has written to \`${name}\` meanwhile. Run one copy at a time.`;
  return new Failure("conflict", message);
}
