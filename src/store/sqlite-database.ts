/**
 * One SQLite file as this package uses it: opened with care, written in immediate transactions.
 *
 * Several processes may have the file open. WAL lets them read while one writes, and a writer waits
 * up to `BUSY_MS` for another one. The file and its directory are for the user alone.
 */

import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../base/clock.ts";
import { Failure, toFailure } from "../base/failure.ts";
import { migrate } from "./migrations.ts";
import type { Statement } from "./sqlite-driver.ts";
import { type Connection, openConnection, type SqlRow, type SqlValue } from "./sqlite-driver.ts";

/** How long a writer waits for another process's transaction, which takes about a millisecond. */
const BUSY_MS = 5000;
/** Switching a new file to WAL does not wait by itself; this is the pause between tries. */
const RETRY_MS = 20;

/**
 * `process`: survives the end of the process. `power`: also the end of power, for one fsync: 0.2 ms
 * against 0.02 ms a commit of 200 bytes on a cloud disk.
 */
type Durability = "process" | "power";

export interface Database {
  /** Runs `work` as one transaction: all of it or nothing. */
  transact<Out>(durability: Durability, work: () => Out): Out;
  /** Returns how many rows changed. */
  run(sql: string, ...values: SqlValue[]): number;
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined;
  all(sql: string, ...values: SqlValue[]): SqlRow[];
  close(): void;
}

/** Rejects with `invalid_request` when there is no usable database and none can be made. */
export async function openDatabase(path: string): Promise<Database> {
  let connection: Connection | undefined;
  try {
    await createFile(path);
    connection = await openConnection(path);
    connection.exec(`pragma busy_timeout = ${BUSY_MS}`);
    connection.exec("pragma foreign_keys = on");
    await switchToWal(connection);
    migrate(connection);
    return createDatabase(path, connection);
  } catch (cause) {
    connection?.close();
    const reason = toFailure(cause).message;
    const message = `The store \`${path}\` cannot be used: ${reason}. Name another file, or move this one away.`;
    throw new Failure("invalid_request", message, { cause });
  }
}

/**
 * Creates a missing file, for the user alone: SQLite gives its side files (`-wal`, `-shm`) the mode of the main
 * one. A file that is there is never opened beside SQLite: closing any descriptor of it drops all locks that
 * this process has on it, and the next foreign reader then takes the log of a living server away.
 */
async function createFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  }
}

async function switchToWal(connection: Connection): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    try {
      connection.exec("pragma journal_mode = wal");
      return;
    } catch (thrown) {
      if (!isBusy(thrown) || waitedMs >= BUSY_MS) throw thrown;
    }
    await systemClock.sleep(RETRY_MS, undefined);
  }
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && /database (table )?is locked/.test(thrown.message);
}

function createDatabase(path: string, connection: Connection): Database {
  const statements = new Map<string, Statement>();
  let level: Durability | undefined;

  return {
    transact(durability, work) {
      try {
        if (level !== durability) setDurability(durability);
        connection.exec("begin immediate");
        return commit(connection, work);
      } catch (cause) {
        throw cause instanceof Failure ? cause : toWriteFailure(path, cause);
      }
    },
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    get: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    close: () => connection.close(),
  };

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

function toWriteFailure(path: string, cause: unknown): Failure {
  const message = `The store \`${path}\` could not be written: ${toFailure(cause).message}.`;
  return new Failure("store_failed", message, { cause });
}
