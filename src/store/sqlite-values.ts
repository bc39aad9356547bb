/** Values and rows of the tables of runs. */

import { createHash } from "node:crypto";
import type { Json } from "../base/json.ts";
import type { RunRecord, RunStatus } from "../protocol/run-record.ts";
import type { Database } from "./sqlite-database.ts";
import type { SqlRow, SqlValue } from "./sqlite-driver.ts";
import { fromColumn, fromNullable, toColumn } from "./text-column.ts";

/** Longer values go to `blobs`, so that listing runs or batches does not read through them. */
const MAX_INLINE_BYTES = 256 * 1024;

interface Written {
  readonly inline: SqlValue;
  readonly blob: SqlValue;
  readonly bytes: number;
}

/** The pair of columns for a JSON text: itself, or the name of the blob it went to. */
export function writeValue(db: Database, run: string, json: string): Written {
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_INLINE_BYTES) return { inline: json, blob: null, bytes };
  const sha256 = createHash("sha256").update(json).digest("hex");
  const sql = "insert into blobs (run_id, sha256, body) values (?, ?, ?) on conflict do nothing";
  db.run(sql, run, sha256, json);
  return { inline: null, blob: sha256, bytes };
}

/** The value of a pair of columns; null when both are empty. */
export function readValue(db: Database, id: string, row: SqlRow, column: string): Json {
  const sha256 = row[`${column}_blob`] ?? null;
  const sql = "select body from blobs where run_id = ? and sha256 = ?";
  const json = sha256 === null ? row[column] : db.get(sql, toColumn(id), sha256)?.["body"];
  return json === null || json === undefined ? null : (JSON.parse(String(json)) as Json);
}

export function toRun(db: Database, row: SqlRow): RunRecord {
  const status = toRunStatus(row);
  const [input, result] = ["input", "result"].map((name) => readValue(db, status.id, row, name));
  return { ...status, input: input ?? null, result: result ?? null };
}

export const STATUS_COLUMNS = `id, parent_id, path, name, title, created_at_ms, status, epoch, owner,
  ending, ended_at_ms, next_seq`;

export function toRunStatus(row: SqlRow): RunStatus {
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
  };
}
