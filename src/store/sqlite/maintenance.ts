/** Looking after the file of a store, also while a server uses it: check, backup, vacuum. */

import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { whenFree } from "../../base/busy.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { StoreCheck } from "../kept.ts";
import { refuseForeign } from "./migrations.ts";
import { openDatabase, type SqliteDatabase } from "./sqlite-database.ts";
import { openConnection, type SqliteConnection, type SqliteRow } from "./sqlite-driver.ts";
import { faultOf, toDamaged, toStoreFailure, toUnusable } from "./sqlite-fault.ts";

/** In a command of its own, waiting for the lock delays nothing else. */
const WAIT_MS = 10_000;
/** A damaged file can have thousands of problems; the first ones tell which tables are concerned. */
const SHOWN_PROBLEMS = 10;
const COUNTED_PROBLEMS = 1000;

/** Reads the whole file: its structure, its indexes, and what refers to what. */
export async function checkStore(path: string): Promise<StoreCheck> {
  try {
    return await withConnection(path, (connection) => {
      const problems = [...findProblems(connection), ...findLostReferences(connection)];
      const runs = tryToRead(() => readNumber(connection, "select count(*) as n from runs"));
      return { ...toShown(problems), runs, ...readSizes(connection) };
    });
  } catch (thrown) {
    // So much of it is gone that nothing can be asked of it.
    const { cause } = toFailure(thrown);
    if (faultOf(cause) !== "damaged") throw thrown;
    const { message } = toFailure(cause);
    return { ...toShown([message]), runs: 0, bytes: statSync(path).size, free_bytes: 0 };
  }
}

function toShown(problems: readonly string[]): Pick<StoreCheck, "problems" | "more_problems"> {
  const shown = problems.slice(0, SHOWN_PROBLEMS);
  return { problems: shown, more_problems: problems.length - shown.length };
}

/**
 * Writes a copy as of one moment, whole and without free pages, while others continue to read and write.
 * The copy is for the user alone. Rejects with `conflict` where `target` exists.
 */
export async function backUpStore(path: string, target: string): Promise<number> {
  return await withConnection(path, (connection) => {
    createTarget(target);
    try {
      connection.prepare("vacuum into ?").run(target);
    } catch (thrown) {
      rmSync(target, { force: true });
      throw toStoreFailure(path, thrown);
    }
    return statSync(target).size;
  });
}

/**
 * Gives all free pages back, and lets the server do so by itself from then on. Others wait meanwhile
 * with their writes, and it needs as much free disk as the file is large.
 */
export async function vacuumStore(path: string): Promise<{ before: number; after: number }> {
  return await withConnection(path, async (connection) => {
    const before = readSizes(connection).bytes;
    const vacuum = (): void => {
      try {
        connection.exec("pragma auto_vacuum = incremental");
        connection.exec("vacuum");
      } catch (thrown) {
        throw toStoreFailure(path, thrown);
      }
    };
    await whenFree(vacuum);
    // Moves the WAL into the file, except for pages whose old state is still being read.
    connection.prepare("pragma wal_checkpoint(truncate)").all();
    return { before, after: readSizes(connection).bytes };
  });
}

/** Opening a file brings its tables up to date; this function also reports the versions before and after. */
export async function migrateStore(path: string): Promise<{ from: number; to: number }> {
  const readVersion = (connection: SqliteConnection): number =>
    Number(connection.prepare("pragma user_version").get()?.["user_version"]);
  const from = await withConnection(path, readVersion);
  (await openDatabase(path)).close();
  return { from, to: await withConnection(path, readVersion) };
}

/** Rejects a damaged file with `store_failed`. False, and nothing was looked at, where it is larger than `maxBytes`. */
export function refuseDamaged(path: string, db: SqliteDatabase, maxBytes: number): boolean {
  const pages = Number(db.get("pragma page_count")?.["page_count"]);
  const size = Number(db.get("pragma page_size")?.["page_size"]);
  if (pages * size > maxBytes) return false;
  const problem = findQuickly((sql) => db.get(sql));
  if (problem !== undefined) throw toDamaged(path, problem);
  return true;
}

/** The first problem of the file, in SQLite's words; undefined where there is none. */
export function findQuickly(ask: (sql: string) => SqliteRow | undefined): string | undefined {
  try {
    const found = String(ask("pragma quick_check(1)")?.["quick_check"]);
    return found === "ok" ? undefined : found.replace(/\s+/g, " ");
  } catch (thrown) {
    const { code, cause, message } = toFailure(thrown);
    // Nothing was read, so nothing is known.
    if (code === "store_busy" || faultOf(thrown) === "busy") throw thrown;
    return cause instanceof Error ? cause.message : message;
  }
}

async function withConnection<Out>(
  path: string,
  work: (connection: SqliteConnection) => Out | Promise<Out>,
): Promise<Out> {
  const connection = await openExisting(path, `pragma busy_timeout = ${WAIT_MS}`);
  try {
    return await work(connection);
  } catch (thrown) {
    throw faultOf(thrown) === "other" ? thrown : toStoreFailure(path, thrown);
  } finally {
    connection.close();
  }
}

/** Opens a record that is there, and makes none. `setting` comes before anything is read. The caller closes it. */
export async function openExisting(path: string, setting: string): Promise<SqliteConnection> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    const message = `\`${path}\` is a folder. Name the file of the store (\`store_path\`).`;
    throw new Failure("invalid_request", message);
  }
  // Opening would make an empty one.
  if (!stats?.isFile()) throw new Failure("not_found", `There is no store at \`${path}\`.`);
  const connection = await openConnection(path);
  try {
    connection.exec(setting);
    checkOurs(path, connection);
    return connection;
  } catch (thrown) {
    connection.close();
    throw faultOf(thrown) === "other" ? thrown : toStoreFailure(path, thrown);
  }
}

/** The refusal that opening the store gives. */
function checkOurs(path: string, connection: SqliteConnection): void {
  try {
    refuseForeign(connection);
  } catch (thrown) {
    throw thrown instanceof Failure ? toUnusable(path, thrown) : thrown;
  }
}

function findProblems(connection: SqliteConnection): string[] {
  // The whole check stops at some damage with only "malformed"; a shorter one may say where it is.
  const checks = [`integrity_check(${COUNTED_PROBLEMS})`, "integrity_check(1)", "quick_check(1)"];
  let message = "";
  for (const check of checks) {
    try {
      const rows = check.endsWith("(1)")
        ? [connection.prepare(`pragma ${check}`).get() ?? {}]
        : connection.prepare(`pragma ${check}`).all();
      return rows.flatMap((row) => toProblems(Object.values(row)[0]));
    } catch (thrown) {
      if (faultOf(thrown) !== "damaged") throw thrown;
      message ||= toFailure(thrown).message;
    }
  }
  return [message];
}

/** SQLite may tell several in one text, below a headline. */
function toProblems(value: unknown): string[] {
  const lines = String(value)
    .split("\n")
    .map((line) => line.trim());
  return lines.filter((line) => line !== "" && line !== "ok" && !line.startsWith("***"));
}

function findLostReferences(connection: SqliteConnection): string[] {
  try {
    const lost = connection.prepare("pragma foreign_key_check").all();
    return lost.map(
      (row) => `row ${row["rowid"]} of ${row["table"]} refers to no ${row["parent"]}`,
    );
  } catch (thrown) {
    if (faultOf(thrown) !== "damaged") throw thrown;
    return [];
  }
}

function tryToRead(read: () => number): number {
  try {
    return read();
  } catch {
    // The problems say why.
    return 0;
  }
}

function readSizes(connection: SqliteConnection): { bytes: number; free_bytes: number } {
  const size = readNumber(connection, "pragma page_size");
  const [pages, free] = ["page_count", "freelist_count"].map((name) =>
    readNumber(connection, `pragma ${name}`),
  );
  return { bytes: size * (pages ?? 0), free_bytes: size * (free ?? 0) };
}

function readNumber(connection: SqliteConnection, sql: string): number {
  return Number(Object.values(connection.prepare(sql).get() ?? {})[0]);
}

/** SQLite writes into an empty file, too, and leaves its mode as it is. */
function createTarget(target: string): void {
  try {
    closeSync(openSync(target, "wx", 0o600));
  } catch (cause) {
    const isThere = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    const message = isThere
      ? `\`${target}\` exists already. Name a new file for the backup.`
      : `The backup cannot be written: ${toFailure(cause).message}.`;
    throw new Failure(isThere ? "conflict" : "invalid_request", message, { cause });
  }
}
