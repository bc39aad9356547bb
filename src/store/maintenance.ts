/** Looking after the file of a store, also while a server uses it: check, backup, vacuum. */

import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { whenFree } from "../base/busy.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { Database } from "./sqlite-database.ts";
import { type Connection, openConnection } from "./sqlite-driver.ts";
import { faultOf, toDamageMessage, toStoreFailure } from "./sqlite-fault.ts";

/** A waiting reader or writer holds up nobody in a command of its own. */
const WAIT_MS = 10_000;
/** A damaged file can have a thousand problems; the first ones tell which tables are concerned. */
const MAX_PROBLEMS = 20;

export interface StoreCheck {
  /** Empty when nothing is wrong. */
  readonly problems: readonly string[];
  readonly runs: number;
  readonly bytes: number;
  /** Of `bytes`, what `vacuum` would give back. */
  readonly free_bytes: number;
}

/** Reads the whole file: its structure, its indexes, and what refers to what. */
export async function checkStore(path: string): Promise<StoreCheck> {
  return await withConnection(path, (connection) => {
    const problems = [...findProblems(connection), ...findLostReferences(connection)];
    const runs = tryToRead(() => readNumber(connection, "select count(*) as n from runs"));
    return { problems, runs, ...readSizes(connection) };
  });
}

/**
 * Writes a copy as of one moment, whole and without free pages, while others go on reading and writing.
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
    // What was written to the WAL reaches the file, as far as nobody reads the old state.
    connection.prepare("pragma wal_checkpoint(truncate)").all();
    return { before, after: readSizes(connection).bytes };
  });
}

/** Above this size a start would have to wait for the check: it reads 300 to 600 MB a second. */
const MAX_CHECKED_BYTES = 128 * 1024 * 1024;

/** Rejects a damaged file with `invalid_request`. A large one is not looked through: see `toStoreFailure`. */
export function refuseDamaged(path: string, db: Database): void {
  const pages = Number(db.get("pragma page_count")?.["page_count"]);
  const size = Number(db.get("pragma page_size")?.["page_size"]);
  if (pages * size > MAX_CHECKED_BYTES) return;
  const problem = tryQuickCheck(db);
  if (problem === "ok") return;
  throw new Failure("invalid_request", toDamageMessage(path, problem));
}

function tryQuickCheck(db: Database): string {
  try {
    return toProblem(db.get("pragma quick_check(1)")?.["quick_check"]);
  } catch (thrown) {
    const { cause, message } = toFailure(thrown);
    return cause instanceof Error ? cause.message : message;
  }
}

/** In SQLite's words, without the line breaks. */
function toProblem(value: unknown): string {
  return String(value).replace(/\s+/g, " ");
}

async function withConnection<Out>(
  path: string,
  work: (connection: Connection) => Out | Promise<Out>,
): Promise<Out> {
  // Opening would make an empty one.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw new Failure("not_found", `There is no store at \`${path}\`.`);
  }
  const connection = await openConnection(path);
  try {
    connection.exec(`pragma busy_timeout = ${WAIT_MS}`);
    return await work(connection);
  } catch (thrown) {
    throw faultOf(thrown) === "other" ? thrown : toStoreFailure(path, thrown);
  } finally {
    connection.close();
  }
}

function findProblems(connection: Connection): string[] {
  try {
    const rows = connection.prepare(`pragma integrity_check(${MAX_PROBLEMS})`).all();
    return rows.map((row) => toProblem(row["integrity_check"])).filter((text) => text !== "ok");
  } catch (thrown) {
    if (faultOf(thrown) !== "damaged") throw thrown;
    return [toFailure(thrown).message];
  }
}

function findLostReferences(connection: Connection): string[] {
  try {
    const rows = connection.prepare("pragma foreign_key_check").all();
    const lost = rows.slice(0, MAX_PROBLEMS);
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

function readSizes(connection: Connection): { bytes: number; free_bytes: number } {
  const size = readNumber(connection, "pragma page_size");
  const [pages, free] = ["page_count", "freelist_count"].map((name) =>
    readNumber(connection, `pragma ${name}`),
  );
  return { bytes: size * (pages ?? 0), free_bytes: size * (free ?? 0) };
}

function readNumber(connection: Connection, sql: string): number {
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
