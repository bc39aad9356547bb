/**
 * One SQLite file as this package uses it: opened with care, written in immediate transactions.
 *
 * Several processes may have the file open. WAL lets them read while one writes. Whoever wants to
 * write meanwhile waits its turn without holding the event loop, for `BUSY_LIMIT_MS` at most.
 *
 * No process may open the file, its `-wal` or its `-shm` beside SQLite, not even to read: when any
 * descriptor of a file is closed, the system drops all locks that the process has on it, SQLite's too.
 * Another program would then take itself for the last user and remove the WAL.
 */

import { whenFree } from "../../base/busy.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { migrate, refuseForeign } from "./migrations.ts";
import {
  type Connection,
  openConnection,
  type SqlRow,
  type SqlValue,
  type Statement,
} from "./sqlite-driver.ts";
import { faultOf, toStoreFailure, toUnusable } from "./sqlite-fault.ts";
import { createStoreFile } from "./store-file.ts";
import { type Attempt, createWriteLine, type Durability } from "./write-line.ts";

/**
 * How long SQLite itself waits, and the event loop with it. Enough for a commit of a process beside
 * this one; whoever holds the lock longer is waited for without the loop standing still.
 */
const BUSY_MS = 3;
/**
 * A reader waits for nobody, except for the process that reads the WAL again after a crash. That one
 * is done within this time, and nothing can be read before.
 */
const READ_BUSY_MS = 5000;

export interface Database {
  /**
   * Runs `work` as one transaction: all of it or nothing. Writers have their turns in the order in
   * which they asked; those of one turn of the event loop are written together, and fail each alone.
   * Rejects with `store_busy` when another process holds the file for too long.
   */
  write<Out>(durability: Durability, work: () => Out): Promise<Out>;
  /** Like `write`, at once, or throws `store_busy`: its caller tries again (`whenFree`). */
  transact<Out>(durability: Durability, work: () => Out): Out;
  /** Returns how many rows changed. */
  run(sql: string, ...values: SqlValue[]): number;
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined;
  all(sql: string, ...values: SqlValue[]): SqlRow[];
  close(): void;
}

/** Rejects with `invalid_request` when there is no usable database and none can be made. */
export async function openDatabase(path: string, clock: Clock = systemClock): Promise<Database> {
  let connection: Connection | undefined;
  try {
    createStoreFile(path);
    const opened = await openConnection(path);
    connection = opened;
    opened.exec(`pragma busy_timeout = ${BUSY_MS}`);
    opened.exec("pragma foreign_keys = on");
    await whenFree(() => prepare(path, opened), clock);
    return createDatabase(path, opened, clock);
  } catch (cause) {
    connection?.close();
    if (cause instanceof Failure && cause.code === "store_busy") throw cause;
    throw toUnusable(path, cause);
  }
}

/** Each step does nothing where it was done before. */
function prepare(path: string, connection: Connection): void {
  try {
    // Before the first write: another program's file stays as it is.
    refuseForeign(connection);
    // Counts for an empty file alone, and must come before the switch, which writes to it.
    const isEmpty = Number(connection.prepare("pragma page_count").get()?.["page_count"]) === 0;
    if (isEmpty) connection.exec("pragma auto_vacuum = incremental");
    connection.exec("pragma journal_mode = wal");
    migrate(connection);
  } catch (thrown) {
    throw faultOf(thrown) === "busy" ? toStoreFailure(path, thrown) : thrown;
  }
}

function createDatabase(path: string, connection: Connection, clock: Clock): Database {
  const statements = new Map<string, Statement>();
  let level: Durability | undefined;
  let isClosed = false;

  const transact = <Out>(durability: Durability, work: () => Out): Out => {
    if (isClosed) throw toClosed(path);
    try {
      if (level !== durability) setDurability(durability);
      connection.exec("begin immediate");
      return commit(connection, work);
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
    write: createWriteLine({ clock, transact, attempt }),
    run: (sql, ...values) => read(() => Number(prepared(sql).run(...values).changes)),
    get: (sql, ...values) => read(() => prepared(sql).get(...values)),
    all: (sql, ...values) => read(() => prepared(sql).all(...values)),
    close() {
      isClosed = true;
      connection.close();
    },
  };

  /** A statement of its own, or within a transaction, where it finds nobody to wait for. */
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

  // Has no effect inside a transaction, so it comes before one. Costs a microsecond.
  function setDurability(durability: Durability): void {
    connection.exec(`pragma synchronous = ${durability === "power" ? "full" : "normal"}`);
    level = durability;
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

function commit<Out>(connection: Connection, work: () => Out): Out {
  try {
    const result = work();
    connection.exec("commit");
    return result;
  } catch (thrown) {
    rollBack(connection);
    throw thrown;
  }
}

function rollBack(connection: Connection): void {
  try {
    connection.exec("rollback");
  } catch {
    // A full disk ends the transaction by itself; what made it fail is thrown by the caller.
  }
}
