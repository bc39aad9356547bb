/**
 * Values and rows of the tables of runs. A value is JSON: a short one is in its row, a large one in `parts`, written
 * and read a piece at a time, so that it does not block the event loop. A transaction of Postgres blocks no other, so
 * the pieces are written in the one that refers to them, and are removed with their run.
 */

import { makeId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { isLarge, toJsonSlices } from "../../base/json-pieces.ts";
import { parseLargeJson } from "../../base/large-json.ts";
import { createSlices } from "../../base/slices.ts";
import type { RunRecord, RunStatus } from "../../protocol/run-record.ts";
import { fromColumn, fromNullable, toColumn } from "../text-column.ts";
import type { Queries, Reads } from "./postgres-database.ts";
import type { PostgresRow } from "./postgres-driver.ts";

/** In bytes: how much is read at once. */
const PART_BYTES = 256 * 1024;

/** The store's own work is one owner besides the tenants whose bodies are read. */
const OWNER = "store";

/** A pair of columns. */
export interface Written {
  readonly inline: string | null;
  readonly parts: string | null;
  readonly bytes: number;
}

/** True if a value goes to `parts`: then it is written within a transaction, by `writeParts`. */
export const isParted: (value: Json) => boolean = isLarge;

/** A value that is not large. */
export function writeInline(value: Json): Written {
  const inline = JSON.stringify(value);
  return { inline, parts: null, bytes: Buffer.byteLength(inline) };
}

/** Inside a transaction, after the run's own row is there. */
export async function writeValue(tx: Queries, id: string, value: Json): Promise<Written> {
  if (!isParted(value)) return writeInline(value);
  const slices = createSlices(OWNER);
  await slices.next();
  const parts = makeId("parts");
  let bytes = 0;
  let part = 0;
  let joined: Uint8Array[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    const piece = Buffer.concat(joined);
    [joined, size] = [[], 0];
    await tx.run(INSERT_PART, toColumn(id), parts, part++, piece);
  };
  for await (const text of toJsonSlices(value, slices)) {
    const piece = Buffer.from(text);
    joined.push(piece);
    size += piece.length;
    bytes += piece.length;
    if (size >= PART_BYTES) await flush();
  }
  if (size > 0) await flush();
  return { inline: null, parts, bytes };
}

const INSERT_PART = "insert into offshoot.parts (run_id, id, part, bytes) values ($1, $2, $3, $4)";

interface SizedValue {
  readonly value: Json;
  /** About the size of its JSON. */
  readonly bytes: number;
}

/** The value of a pair of columns; null when both are empty. Undefined if its run was removed meanwhile. */
export async function readSized(
  db: Reads,
  id: string,
  row: PostgresRow,
  column: string,
): Promise<SizedValue | undefined> {
  const parts = row[`${column}_parts`] ?? null;
  if (parts !== null) return await readParts(db, id, String(parts));
  const json = row[column] ?? null;
  if (json === null) return { value: null, bytes: 0 };
  const text = String(json);
  return { value: JSON.parse(text) as Json, bytes: text.length };
}

async function readParts(db: Reads, id: string, parts: string): Promise<SizedValue | undefined> {
  const slices = createSlices(OWNER);
  await slices.next();
  const pieces: Uint8Array[] = [];
  const sql = "select bytes from offshoot.parts where run_id = $1 and id = $2 and part = $3";
  for (;;) {
    const row = await db.get(sql, toColumn(id), parts, pieces.length);
    if (!row) break;
    pieces.push(row["bytes"] as Uint8Array);
  }
  if (pieces.length === 0) return undefined;
  const bytes = Buffer.concat(pieces);
  return { value: (await parseLargeJson(bytes, slices)) as Json, bytes: bytes.length };
}

/** Undefined if it was removed in the middle of reading. */
export async function toRun(db: Reads, row: PostgresRow): Promise<RunRecord | undefined> {
  const status = toRunStatus(row);
  const input = await readSized(db, status.id, row, "input");
  const result = await readSized(db, status.id, row, "result");
  return input && result && { ...status, input: input.value, result: result.value };
}

export const STATUS_COLUMNS = `id, parent_id, path, name, title, created_at_ms, status, epoch, owner,
  ending, ended_at_ms, next_seq, tenant, journal`;

export function toRunStatus(row: PostgresRow): RunStatus {
  return {
    id: fromColumn(row["id"]),
    parent_id: fromNullable(row["parent_id"]),
    path: fromColumn(row["path"]),
    name: fromColumn(row["name"]),
    title: fromColumn(row["title"]),
    created_at_ms: Number(row["created_at_ms"]),
    status: row["status"] as RunRecord["status"],
    epoch: Number(row["epoch"]),
    owner: fromNullable(row["owner"]),
    ending: (row["ending"] ?? null) as RunRecord["ending"],
    ended_at_ms: row["ended_at_ms"] as number | null,
    next_seq: Number(row["next_seq"]),
    tenant: fromNullable(row["tenant"]),
    journal: Number(row["journal"]),
  };
}
