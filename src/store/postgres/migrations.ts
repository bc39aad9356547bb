/**
 * Takes the steps of `tables.ts` that a database lacks, and says whether a program may use it.
 *
 * Opening a database does not change its tables: several versions of the program may use one database while it is
 * updated. `offshoot store migrate` does, and who opens a database that is empty.
 */

import { Failure } from "../../base/failure.ts";
import type { PostgresDatabase, Queries } from "./postgres-database.ts";
import { MIGRATIONS } from "./tables.ts";
import { makeVectorTable } from "./vector-table.ts";

/**
 * The table that is there while another record is copied into this one (`copy/copy-target.ts`): no other program may
 * use it.
 */
export const COPYING = "copying";

/** The version that this program knows. */
export const LATEST = MIGRATIONS.length;

/** A lock of our own: two processes that migrate at the same time take turns. */
const LOCK = 0x4f666673;

/** How many steps the database has done; 0 if it has none of our tables. */
export async function readVersion(db: Pick<Queries, "get">): Promise<number> {
  if (!(await hasTable(db, "version"))) return 0;
  return Number((await db.get("select version from offshoot.version"))?.["version"] ?? 0);
}

/** Not with `to_regclass`, which may remember that there was none. */
export async function hasTable(db: Pick<Queries, "get">, name: string): Promise<boolean> {
  const sql = "select 1 from pg_tables where schemaname = 'offshoot' and tablename = $1";
  return (await db.get(sql, name)) !== undefined;
}

/** Does the missing steps; returns from and to which version. `to` is for tests. */
export async function migrate(
  db: PostgresDatabase,
  to = LATEST,
): Promise<{ readonly from: number; readonly to: number }> {
  return await db.transact(async (tx) => {
    // However long the steps of another process take.
    await tx.run("set local lock_timeout = 0");
    await tx.get("select pg_advisory_xact_lock($1)", LOCK);
    const from = await readVersion(tx);
    if (from > LATEST) throw toNewer(db.name, from);
    if (await hasTable(tx, COPYING)) throw toUnfinished(db.name);
    if (from === 0) {
      await refuseEncoding(tx, db.name);
      await tx.run("create schema if not exists offshoot");
      await tx.run("create table offshoot.version (version integer not null)");
      await tx.run("insert into offshoot.version values (0)");
    }
    for (const step of MIGRATIONS.slice(from, to)) {
      if (typeof step === "string") await tx.run(step);
      else await step(tx);
    }
    const reached = Math.max(from, to);
    await tx.run("update offshoot.version set version = $1", reached);
    return { from, to: reached };
  });
}

/** Other encodings lack letters: a prompt with one of them could not be stored, long after the start. */
async function refuseEncoding(db: Pick<Queries, "get">, name: string): Promise<void> {
  const found = String((await db.get("show server_encoding"))?.["server_encoding"]);
  if (found === "UTF8") return;
  const message = `The store \`${name}\` cannot be used: its encoding is ${found}, which lacks letters. Make another one: \`createdb --encoding=UTF8 --template=template0 NAME\`.`;
  throw new Failure("invalid_request", message);
}

/** Creates the tables of an empty database; rejects with what to do if they cannot be used. */
export async function verify(db: PostgresDatabase): Promise<void> {
  // First: a database that is refused is not changed.
  await refuseIsolation(db);
  const { isNew } = await verifyVersion(db);
  if (await hasTable(db, COPYING)) throw toUnfinished(db.name);
  if (isNew) await makeVectorTable(db);
}

/**
 * Statements outside of our transactions have the default of the database. With any other than this they do not see
 * what was committed while they waited for a lock: two processes would take the same place of a key.
 */
async function refuseIsolation(db: Pick<PostgresDatabase, "get" | "name">): Promise<void> {
  const sql = `select current_setting('default_transaction_isolation') as found,
    format('alter role %I in database %I', current_user, current_database()) as whose`;
  const { found, whose } = (await db.get(sql)) ?? {};
  if (found === "read committed") return;
  const message = `The store \`${db.name}\` cannot be used: its transactions are \`${found}\` by default. Run \`${whose} set default_transaction_isolation = 'read committed'\`.`;
  throw new Failure("invalid_request", message);
}

/** Like `verify`, for a copy of a record into the database. `isNew`: it was empty. */
export async function verifyVersion(db: PostgresDatabase): Promise<{ readonly isNew: boolean }> {
  const version = await readVersion(db);
  if (version === LATEST) return { isNew: false };
  if (version > LATEST) throw toNewer(db.name, version);
  if (version > 0) throw toOlder(db.name, version);
  await migrate(db);
  return { isNew: true };
}

function toUnfinished(name: string): Failure {
  const message = `The store \`${name}\` is a copy that is not finished. Run \`offshoot store copy\` again: it continues where it stopped.`;
  return new Failure("invalid_request", message);
}

function toOlder(name: string, version: number): Failure {
  const message = `The store \`${name}\` has tables of an older Offshoot (version ${version}, this one needs ${LATEST}). Run \`offshoot store migrate\`.`;
  return new Failure("invalid_request", message);
}

function toNewer(name: string, version: number): Failure {
  const message = `The store \`${name}\` was written by a newer Offshoot (tables version ${version}, this one knows ${LATEST}): update Offshoot.`;
  return new Failure("invalid_request", message);
}
