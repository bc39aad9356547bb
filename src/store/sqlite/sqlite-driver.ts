/**
 * Which SQLite: the one built into Node (22.13 and up), else `@photostructure/sqlite`, which has the
 * same API and brings its binaries along. Only what both have is in the types here.
 */

import { createRequire } from "node:module";
import { Failure } from "../../base/failure.ts";

export type SqliteValue = string | number | null | Uint8Array;
export type SqliteRow = Readonly<Record<string, SqliteValue>>;

export interface Statement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): SqliteRow | undefined;
  all(...values: SqliteValue[]): SqliteRow[];
}

export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Driver {
  readonly DatabaseSync: new (path: string, options: OpenOptions) => SqliteConnection;
}

interface OpenOptions {
  /** Writes nothing, and makes no file. */
  readonly readOnly?: boolean;
}

/** Opens the file, creating it when it is missing. The caller closes the connection. */
export async function openConnection(
  path: string,
  options: OpenOptions = {},
): Promise<SqliteConnection> {
  const { DatabaseSync } = findDriver();
  return new DatabaseSync(path, options);
}

/** Throws `invalid_request` if this machine has neither; the file has no part in that. */
export function findDriver(): Driver {
  return readBuiltin() ?? loadPackage();
}

/**
 * Node 22 warns on loading that its SQLite is experimental, which would land in the output of every
 * command. Loading is synchronous, so no other warning can be lost while this one is kept quiet.
 */
function readBuiltin(): Driver | undefined {
  const warn = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule("node:sqlite") as Driver | undefined;
  } finally {
    process.emitWarning = warn;
  }
}

/** Required, not imported: that is 5 ms less of every start (bench/start.ts). */
function loadPackage(): Driver {
  try {
    return createRequire(import.meta.url)("@photostructure/sqlite") as Driver;
  } catch (cause) {
    const message =
      "SQLite is missing: use Node.js 22.13 or later, or run `npm install @photostructure/sqlite`.";
    throw new Failure("invalid_request", message, { cause });
  }
}
