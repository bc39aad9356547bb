/**
 * Moves a record from SQLite to Postgres: copies table by table in batches, then compares the two by counts and
 * hashes. It may be killed at any point; the next call continues after the last batch that was written. Until the
 * comparison succeeds no other process can open the copy.
 */

import { createHash } from "node:crypto";
import {
  MAINTENANCE_MS,
  openDatabase,
  type PostgresDatabase,
} from "../postgres/postgres-database.ts";
import { COPIED_TABLES, type CopiedTable } from "./copied-tables.ts";
import { type Batch, type CopySource, openCopySource, type RowKey } from "./copy-source.ts";
import {
  beginCopy,
  finishCopy,
  putPieces,
  readDigests,
  readProgress,
  spoilCopy,
  writeBatch,
} from "./copy-target.ts";
import { digestRow, isLargeText } from "./row-digest.ts";
import {
  type ComparedTable,
  type CopyOptions,
  type CopyProgress,
  isSameTable,
  type StoreCopy,
  type TableDigest,
} from "./store-copy.ts";

export async function copyRecord(
  path: string,
  target: string,
  options: CopyOptions,
): Promise<StoreCopy> {
  const source = await openCopySource(path);
  try {
    const db = await openDatabase(target, { statementMs: MAINTENANCE_MS });
    try {
      return await copy(source, db, options);
    } finally {
      await db.close();
    }
  } finally {
    source.close();
  }
}

async function copy(
  source: CopySource,
  db: PostgresDatabase,
  options: CopyOptions,
): Promise<StoreCopy> {
  options.onBegin(await beginCopy(db, source));
  const tell = createTelling(source, options);
  for (const table of COPIED_TABLES) {
    await copyTable(source, db, table, (rows) => tell("copying", table, rows));
  }
  const tables: ComparedTable[] = [];
  for (const table of COPIED_TABLES) {
    const here = digestSource(source, table);
    const there = await digestCopy(db, table, (rows) => tell("comparing", table, rows));
    tables.push({ name: table.name, source: here, copy: there });
  }
  const isSame = tables.every(isSameTable);
  if (isSame) await finishCopy(db, source, options.things);
  else await spoilCopy(db);
  return { target: db.name, isSame, tables };
}

async function copyTable(
  source: CopySource,
  db: PostgresDatabase,
  table: CopiedTable,
  onRows: (rows: number) => void,
): Promise<void> {
  const found = await readProgress(db, table);
  onRows(found.rows);
  let after: RowKey | undefined = found.after;
  for (;;) {
    const batch: Batch | undefined = source.readBatch(table, after);
    if (!batch) return;
    for (const { parts } of batch.rows.flatMap((row) => row.filter(isLargeText))) {
      await putPieces(db, parts, source.readPieces(parts));
    }
    await writeBatch(db, table, after, batch);
    after = batch.last;
    onRows(batch.rows.length);
  }
}

function digestSource(source: CopySource, table: CopiedTable): TableDigest {
  const all = createHash("sha256");
  let rows = 0;
  let batch = source.readBatch(table, undefined);
  while (batch) {
    for (const row of batch.rows) all.update(digestRow(table, row, source.readPieces.bind(source)));
    rows += batch.rows.length;
    batch = source.readBatch(table, batch.last);
  }
  return { rows, sha256: all.digest("hex") };
}

async function digestCopy(
  db: PostgresDatabase,
  table: CopiedTable,
  onRows: (rows: number) => void,
): Promise<TableDigest> {
  const all = createHash("sha256");
  let rows = 0;
  for await (const digests of readDigests(db, table)) {
    for (const digest of digests) all.update(digest);
    rows += digests.length;
    onRows(digests.length);
  }
  return { rows, sha256: all.digest("hex") };
}

type Tell = (phase: CopyProgress["phase"], table: CopiedTable, rows: number) => void;

/** Reports the rows of all tables so far, in each phase. */
function createTelling(source: CopySource, { onProgress }: CopyOptions): Tell {
  const totalRows = COPIED_TABLES.reduce((sum, table) => sum + source.countRows(table), 0);
  const done = { copying: 0, comparing: 0 };
  return (phase, { name }, more) => {
    done[phase] += more;
    onProgress({ phase, table: name, rows: done[phase], totalRows });
  };
}
