/**
 * One SQLite file as this package uses it: opened with care, written in immediate transactions.
 *
 * Several processes may have the file open. WAL lets them read while one writes. A process that wants to
 * write meanwhile waits its turn without holding the event loop, for `BUSY_LIMIT_MS` at most.
 *
 * No process may open the file or its `-shm` beside SQLite, not even to read: when any descriptor of a file is
 * closed, the system drops all locks that the process has on it, SQLite's too. Another program would then take itself
 * for the last user and remove the WAL. SQLite takes no locks on the `-wal` (`wal-disk.ts`).
 */

import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { whenFree } from "../../base/busy.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { holdDatabaseFile } from "../../base/held-files.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { migrate, refuseForeign } from "./migrations.ts";
import {
  findDriver,
  openConnection,
  type SqliteConnection,
  type SqliteRow,
  type SqliteValue,
  type Statement,
} from "./sqlite-driver.ts";
import { faultOf, toLostFailure, toStoreFailure, toUnusable } from "./sqlite-fault.ts";
import { type Disk, NO_DISK, openWalDisk } from "./wal-disk.ts";
import { type Attempt, createWriteLine, type WriteLine } from "./write-line.ts";

/**
 * How long SQLite itself waits, and the event loop with it. Enough for a commit of a process beside
 * this one; if the lock is held longer, the wait does not block the loop.
 */
const BUSY_MS = 3;
/**
 * A reader waits only for a process that recovers the WAL after a crash. That one
 * is done within this time, and nothing can be read before.
 */
const READ_BUSY_MS = 5000;

export interface SqliteDatabase {
  /**
   * Runs `work` as one transaction: all of it or nothing. Writers have their turns in the order in
   * which they asked; those of one turn of the event loop are written together, and fail each alone.
   * Rejects with `store_busy` when another process holds the file for too long.
   */
  readonly write: WriteLine;
  /**
   * Runs a transaction at once, or throws `store_busy`: its caller tries again (`whenFree`). What it writes survives
   * the end of the process, and a loss of power once a later `write` waited for the disk.
   */
  transact<Out>(work: () => Out): Out;
  /** Returns how many rows changed. */
  run(sql: string, ...values: SqliteValue[]): number;
  get(sql: string, ...values: SqliteValue[]): SqliteRow | undefined;
  all(sql: string, ...values: SqliteValue[]): SqliteRow[];
  close(): void;
}

/** Rejects with `invalid_request` when there is no usable database and none can be made. */
export async function openDatabase(
  path: string,
  clock: Clock = systemClock,
  openDisk: typeof openWalDisk = openWalDisk,
): Promise<SqliteDatabase> {
  // Outside of `try`: without a driver every file would seem to be unusable.
  findDriver();
  let connection: SqliteConnection | undefined;
  try {
    createStoreFile(path);
    const opened = await openConnection(path);
    connection = opened;
    opened.exec(`pragma busy_timeout = ${BUSY_MS}`);
    opened.exec("pragma foreign_keys = on");
    const hasWal = await whenFree(() => prepare(path, opened), clock);
    opened.exec(`pragma synchronous = ${hasWal ? "normal" : "full"}`);
    return createDatabase(
      { path, connection: opened, disk: hasWal ? openDisk(`${path}-wal`) : NO_DISK },
      clock,
    );
  } catch (cause) {
    connection?.close();
    if (cause instanceof Failure && cause.code === "store_busy") throw cause;
    throw toUnusable(path, cause);
  }
}

/** Each step does nothing where it was done before. False where the file system allows no WAL. */
function prepare(path: string, connection: SqliteConnection): boolean {
  try {
    // Before the first write: another program's file stays as it is.
    refuseForeign(connection);
    // Counts for an empty file alone, and must come before the switch, which writes to it.
    const isEmpty = Number(connection.prepare("pragma page_count").get()?.["page_count"]) === 0;
    if (isEmpty) connection.exec("pragma auto_vacuum = incremental");
    const mode = connection.prepare("pragma journal_mode = wal").get()?.["journal_mode"];
    migrate(connection);
    return mode === "wal";
  } catch (thrown) {
    throw faultOf(thrown) === "busy" ? toStoreFailure(path, thrown) : thrown;
  }
}

interface Opened {
  readonly path: string;
  readonly connection: SqliteConnection;
  readonly disk: Disk;
}

function createDatabase({ path, connection, disk }: Opened, clock: Clock): SqliteDatabase {
  const statements = new Map<string, Statement>();
  const begin = connection.prepare("begin immediate");
  const end = connection.prepare("commit");
  let isClosed = false;

  const transact = <Out>(work: () => Out): Out => {
    if (isClosed) throw toClosed(path);
    if (disk.failure !== undefined) throw toLostFailure(path, disk.failure);
    try {
      begin.run();
      return commit(connection, end, work);
    } catch (cause) {
      throw cause instanceof Failure ? cause : toStoreFailure(path, cause);
    }
  };
  const attempt = <Out>(work: () => Out): Attempt<Out> => {
    connection.exec("savepoint one");
    try {
      const value = work();
      connection.exec("release one");
      return { value };
    } catch (cause) {
      // A full disk may have ended the transaction: then this throws, and all of it is lost.
      connection.exec("rollback to one");
      connection.exec("release one");
      return { thrown: cause instanceof Failure ? cause : toStoreFailure(path, cause) };
    }
  };
  return {
    transact,
    write: createWriteLine({ clock, transact, attempt, disk: withFailures(disk, path) }),
    run: (sql, ...values) => read(() => Number(prepared(sql).run(...values).changes)),
    get: (sql, ...values) => read(() => prepared(sql).get(...values)),
    all: (sql, ...values) => read(() => prepared(sql).all(...values)),
    close() {
      isClosed = true;
      connection.close();
      disk.close();
    },
  };

  /** Runs a statement by itself, or within a transaction, where it waits for no other process. */
  function read<Out>(ask: () => Out): Out {
    try {
      return ask();
    } catch (thrown) {
      const fault = faultOf(thrown);
      if (fault === "damaged") throw toStoreFailure(path, thrown);
      if (fault !== "busy") throw thrown;
    }
    connection.exec(`pragma busy_timeout = ${READ_BUSY_MS}`);
    try {
      return ask();
    } catch (thrown) {
      throw toStoreFailure(path, thrown);
    } finally {
      connection.exec(`pragma busy_timeout = ${BUSY_MS}`);
    }
  }

  function prepared(sql: string): Statement {
    const known = statements.get(sql);
    if (known) return known;
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  }
}

function toClosed(path: string): Failure {
  return new Failure(
    "store_failed",
    `The store \`${path}\` was closed before it could be written.`,
  );
}

/** Committed data is visible; a disk that fails afterwards is the failure of the writers that waited for it. */
function withFailures(disk: Disk, path: string): Pick<Disk, "sync" | "busy"> {
  return {
    async sync() {
      try {
        await disk.sync();
      } catch (cause) {
        throw disk.failure === undefined ? toStoreFailure(path, cause) : toLostFailure(path, cause);
      }
    },
    get busy() {
      return disk.busy;
    },
  };
}

function commit<Out>(connection: SqliteConnection, end: Statement, work: () => Out): Out {
  try {
    const result = work();
    end.run();
    return result;
  } catch (thrown) {
    rollBack(connection);
    throw thrown;
  }
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec("rollback");
  } catch {
    // A full disk ends the transaction by itself; what made it fail is thrown by the caller.
  }
}

/**
 * The file of a store, as a file: made for the user alone, and known by its path.
 *
 * Makes the file and its directory where they are missing, and keeps tools from opening it. SQLite gives its side
 * files (`-wal`, `-shm`) the mode of the main one.
 *
 * A file that exists is not opened, because closing it would drop the locks of a connection that this process has to
 * it. In one go, so that no connection to a new file can come before its closing.
 */
function createStoreFile(path: string): void {
  makeFolder(dirname(path));
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (thrown) {
    if (!isExisting(thrown)) throw thrown;
  }
  holdDatabaseFile(path);
}

function isExisting(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
}
