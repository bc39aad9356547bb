/**
 * The SQLite file that is copied. This process has it alone: SQLite refuses the lock while another process has the
 * file open, even one that only waits, and keeps all others out until it is closed. So the copy is the record at one
 * moment, and no server writes to it after the copy began.
 *
 * Rows are read in batches of some megabytes, large values a piece at a time.
 */

import { realpathSync, statSync } from "node:fs";
import { Failure, toFailure } from "../../base/failure.ts";
import { openExisting } from "../sqlite/maintenance.ts";
import { migrate } from "../sqlite/migrations.ts";
import type {
  SqliteConnection,
  SqliteRow,
  SqliteValue,
  Statement,
} from "../sqlite/sqlite-driver.ts";
import { faultOf, toStoreFailure } from "../sqlite/sqlite-fault.ts";
import { type ColumnKind, type CopiedTable, FIND_VALUES } from "./copied-tables.ts";
import type { Cell, CopiedRow } from "./row-digest.ts";

/** A command that only reads the record has ended by then. */
const WAIT_MS = 2000;
/** The most rows of one batch. */
const BATCH_ROWS = 500;
const BATCH_BYTES = 2_000_000;

/** The values of a row's key. */
export type RowKey = readonly (string | number)[];

export interface Batch {
  readonly rows: readonly CopiedRow[];
  /** The key of the last row. */
  readonly last: RowKey;
}

export interface CopySource {
  /** With links resolved. */
  readonly path: string;
  /** Changes when anything in the file has changed. */
  readonly stamp: string;
  countRows(table: CopiedTable): number;
  /** The rows after a key; undefined after the last one. */
  readBatch(table: CopiedTable, after: RowKey | undefined): Batch | undefined;
  readPieces(parts: string): Iterable<Uint8Array>;
  /** The last number that was given out; 0 if none was. */
  readLastNumber(table: CopiedTable): number;
  close(): void;
}

/** Rejects with `store_busy` while another process has the file open. */
export async function openCopySource(path: string): Promise<CopySource> {
  const connection = await openAlone(path);
  try {
    migrate(connection);
    // From here on all of it is in the file itself, and its time says whether it has changed.
    connection.prepare("pragma wal_checkpoint(truncate)").all();
    connection.exec(FIND_VALUES);
    const { mtimeNs, size } = statSync(path, { bigint: true });
    return new SqliteCopySource(realpathSync(path), `${mtimeNs} ${size}`, connection);
  } catch (thrown) {
    connection.close();
    throw thrown instanceof Failure ? thrown : toStoreFailure(path, thrown);
  }
}

async function openAlone(path: string): Promise<SqliteConnection> {
  const setting = `pragma busy_timeout = ${WAIT_MS}; pragma locking_mode = exclusive`;
  let connection: SqliteConnection | undefined;
  try {
    connection = await openExisting(path, setting);
    // The lock stays with the connection.
    connection.exec("begin exclusive; commit");
    return connection;
  } catch (thrown) {
    connection?.close();
    const isBusy = faultOf(thrown) === "busy" || toFailure(thrown).code === "store_busy";
    throw isBusy ? toInUse(path, thrown) : thrown;
  }
}

function toInUse(path: string, cause: unknown): Failure {
  const message = `The store \`${path}\` is in use. Stop the servers and let the runs of this record end, then copy it.`;
  return new Failure("store_busy", message, { cause });
}

class SqliteCopySource implements CopySource {
  readonly path: string;
  readonly stamp: string;
  readonly #connection: SqliteConnection;
  readonly #statements = new Map<string, Statement>();

  constructor(path: string, stamp: string, connection: SqliteConnection) {
    this.path = path;
    this.stamp = stamp;
    this.#connection = connection;
  }

  countRows({ from }: CopiedTable): number {
    return Number(this.#all(`select count(*) as n from ${from}`)[0]?.["n"]);
  }

  readBatch(table: CopiedTable, after: RowKey | undefined): Batch | undefined {
    const limit = table.size === undefined ? BATCH_ROWS : this.#fit(table, table.size, after);
    const columns = table.columns.map(({ name, sql }) => `${sql} as "${name}"`);
    if (table.parted) columns.push(`${table.parted.sql} as ${PARTED}`);
    const read = limit === 0 ? [] : this.#page(table, columns.join(", "), after, limit);
    const last = read.at(-1);
    if (!last) return undefined;
    return {
      rows: read.map((row) => toCells(table, row)),
      last: table.key.map((name) => last[name] as string | number),
    };
  }

  *readPieces(parts: string): Generator<Uint8Array> {
    const sql = "select bytes from parts where id = ? and part = ?";
    for (let part = 0; ; part++) {
      const bytes = this.#all(sql, parts, part)[0]?.["bytes"];
      if (!(bytes instanceof Uint8Array)) return;
      yield bytes;
    }
  }

  readLastNumber({ numbered }: CopiedTable): number {
    return numbered ? Number(this.#all(numbered.last)[0]?.["last"] ?? 0) : 0;
  }

  close(): void {
    this.#connection.close();
  }

  /** How many of the next rows are one batch. A row with parts is a batch of its own. */
  #fit(table: CopiedTable, size: string, after: RowKey | undefined): number {
    const isParted = table.parted ? `${table.parted.sql} is not null` : "0";
    const columns = `${size} as size, ${isParted} as is_parted`;
    let rows = 0;
    let bytes = 0;
    for (const row of this.#page(table, columns, after, BATCH_ROWS)) {
      const isAlone = row["is_parted"] === 1;
      if (isAlone && rows > 0) break;
      rows++;
      bytes += Number(row["size"]);
      if (isAlone || bytes >= BATCH_BYTES) break;
    }
    return rows;
  }

  #page(
    table: CopiedTable,
    columns: string,
    after: RowKey | undefined,
    limit: number,
  ): SqliteRow[] {
    const sql = toPageSql(table, columns, after !== undefined);
    return this.#all(sql, ...(after ?? []), limit);
  }

  #all(sql: string, ...values: SqliteValue[]): SqliteRow[] {
    try {
      const statement = this.#statements.get(sql) ?? this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
      return statement.all(...values);
    } catch (thrown) {
      throw toStoreFailure(this.path, thrown);
    }
  }
}

/** The name under which a row says where a value of it is. */
const PARTED = "_parts";

/** The values are those of the key, if there is one, and the limit. */
export function toPageSql(table: CopiedTable, columns: string, isAfter: boolean): string {
  const { key, from, near } = table;
  const keys = key.map((name) => table.columns.find((column) => column.name === name)?.sql ?? name);
  const marks = keys.map((_, at) => `?${at + 1}`);
  const after = `(${keys.join(", ")}) > (${marks.join(", ")})`;
  const where = isAfter ? `where ${near === undefined ? after : `${near} and ${after}`}` : "";
  const limit = `?${isAfter ? keys.length + 1 : 1}`;
  return `select ${columns} from ${from} ${where} order by ${keys.join(", ")} limit ${limit}`;
}

function toCells({ columns, parted }: CopiedTable, row: SqliteRow): CopiedRow {
  const parts = row[PARTED] ?? null;
  return columns.map(({ name, kind }) =>
    parts !== null && name === parted?.column
      ? { parts: String(parts) }
      : toCell(kind, row[name] ?? null),
  );
}

function toCell(kind: ColumnKind, value: SqliteValue): Cell {
  if (value === null) return null;
  switch (kind) {
    case "boolean":
      return value === 1;
    case "integer":
    case "real":
      return Number(value);
    case "bytes":
      return value as Uint8Array;
    case "text":
    case "value":
      // Texts of files may have one, which Postgres refuses; it is replaced there too when they are indexed.
      return String(value).replaceAll("\0", "\ufffd");
  }
}
