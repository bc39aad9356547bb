/**
 * Values and rows of the tables of runs. A value is JSON: a short one stands in its row, one over 256 KB in
 * `blobs`, and a large one in `parts`, written and read a piece at a time.
 */

import { createHash } from "node:crypto";
import type { Json } from "../../base/json.ts";
import { isLarge, isLargePart, toJsonSlices } from "../../base/json-pieces.ts";
import { parseLargeJson } from "../../base/large-json.ts";
import { createSlices, type Slices } from "../../base/slices.ts";
import type { RunRecord, RunStatus } from "../../protocol/run-record.ts";
import type { UnfinishedRun } from "../run-reader.ts";
import { fromColumn, fromNullable, toColumn } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteRow, SqliteValue } from "./sqlite-driver.ts";
import { dropParts, keepParts, readParts, writeParts } from "./sqlite-parts.ts";
import type { Durability } from "./write-line.ts";

/** Longer values go to `blobs`, so that listing runs or batches does not read through them. */
const MAX_INLINE_BYTES = 256 * 1024;

/** A value as JSON, on its way to a pair of columns: its text, or the parts that are written already. */
export type ReadyValue = string | PartedValue;

export interface PartedValue {
  readonly parts: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Set by the transaction that refers to the parts. */
  isUsed: boolean;
}

interface Written {
  readonly inline: SqliteValue;
  readonly blob: SqliteValue;
  readonly bytes: number;
}

export interface ValueWriting {
  readonly values: readonly Json[];
  readonly durability: Durability;
  /** In whose turn large values are written; if no tenant is named, that of the run's. */
  readonly tenant?: string | null | undefined;
  readonly run?: string | null | undefined;
}

/**
 * Runs `work` as one transaction, with the values ready to be written in it. Large ones are written before, a
 * piece each turn; they count from the transaction on, and go if it
 * fails or has no use for them.
 */
export async function writeWith<Out>(
  db: SqliteDatabase,
  writing: ValueWriting,
  work: (ready: readonly ReadyValue[]) => Out,
): Promise<Out> {
  const { values, durability } = writing;
  // Many that are not large take as long as one that is.
  if (!isLarge(values)) {
    return await db.write(durability, () => work(values.map((value) => JSON.stringify(value))));
  }
  const ready: ReadyValue[] = [];
  let isWritten = false;
  try {
    await makeReady(db, writing, ready);
    const done = await db.write(durability, () => work(ready));
    isWritten = true;
    return done;
  } finally {
    for (const one of ready) {
      if (typeof one !== "string" && !(isWritten && one.isUsed)) await dropParts(db, one.parts);
    }
  }
}

/** Prepares the values and adds each to `ready`, so that the caller can remove their parts if this rejects. */
async function makeReady(
  db: SqliteDatabase,
  { values, tenant, run }: ValueWriting,
  ready: ReadyValue[],
): Promise<void> {
  const slices = createSlices(tenant ?? ownerOfRun(db, run ?? null));
  await slices.next();
  let chars = 0;
  for (const value of values) {
    const one = isLargePart(value) ? await writeInParts(db, value, slices) : JSON.stringify(value);
    ready.push(one);
    chars += typeof one === "string" ? one.length : 0;
    if (chars < LOOK_CHARS) continue;
    chars = 0;
    if (slices.isOver()) await slices.next();
  }
}

/** How many characters are written between two looks at the time. */
const LOOK_CHARS = 64 * 1024;

async function writeInParts(db: SqliteDatabase, value: Json, slices: Slices): Promise<PartedValue> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    for await (const text of toJsonSlices(value, slices)) {
      const piece = Buffer.from(text);
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  const parts = await writeParts(db, pieces(), slices);
  return { parts, sha256: hash.digest("hex"), bytes, isUsed: false };
}

/** In whose turn the large values of a run are worked on: its tenant's. Runs without a tenant share a turn. */
function ownerOfRun(db: SqliteDatabase, id: string | null): string {
  if (id === null) return NO_TENANT;
  const row = db.get("select tenant from runs where id = ?", toColumn(id));
  return fromNullable(row?.["tenant"] ?? null) ?? NO_TENANT;
}

const NO_TENANT = "";

/** True for a value that stands in its row. */
export function isInline(value: ReadyValue): boolean {
  return typeof value === "string" && Buffer.byteLength(value) <= MAX_INLINE_BYTES;
}

/** In bytes. */
export function sizeOfValue(value: ReadyValue): number {
  return typeof value === "string" ? Buffer.byteLength(value) : value.bytes;
}

/** Inside a transaction: the pair of columns for a value, itself or the name of the blob it went to. */
export function writeValue(db: SqliteDatabase, run: string, value: ReadyValue): Written {
  const sql = `insert into blobs (run_id, sha256, body, parts) values (?, ?, ?, ?)
    on conflict do nothing`;
  if (typeof value !== "string") {
    const { parts, sha256, bytes } = value;
    const isNew = db.run(sql, run, sha256, "", parts) > 0;
    keepParts(db, parts, isNew);
    value.isUsed = true;
    return { inline: null, blob: sha256, bytes };
  }
  const bytes = Buffer.byteLength(value);
  if (bytes <= MAX_INLINE_BYTES) return { inline: value, blob: null, bytes };
  const sha256 = createHash("sha256").update(value).digest("hex");
  db.run(sql, run, sha256, value, null);
  return { inline: null, blob: sha256, bytes };
}

/** The value of a pair of columns; null when both are empty. */
export async function readValue(
  db: SqliteDatabase,
  id: string,
  row: SqliteRow,
  column: string,
): Promise<Json> {
  return (await readSized(db, id, row, column)).value;
}

/** Thrown if a run was removed in the middle of reading: the value is gone. */
class ValueGone extends Error {}

/** Undefined where the value was removed in the middle of reading. */
export async function unlessGone<Out>(reading: Promise<Out>): Promise<Out | undefined> {
  try {
    return await reading;
  } catch (thrown) {
    if (thrown instanceof ValueGone) return undefined;
    throw thrown;
  }
}

interface SizedValue {
  readonly value: Json;
  /** The approximate size of the value's JSON. */
  readonly bytes: number;
}

export async function readSized(
  db: SqliteDatabase,
  id: string,
  row: SqliteRow,
  column: string,
): Promise<SizedValue> {
  const sha256 = row[`${column}_blob`] ?? null;
  const sql = "select body, parts from blobs where run_id = ? and sha256 = ?";
  const blob = sha256 === null ? undefined : db.get(sql, toColumn(id), sha256);
  const parts = blob?.["parts"] ?? null;
  if (parts !== null) return await readParted(db, String(parts), ownerOfRun(db, id));
  const json = (sha256 === null ? row[column] : blob?.["body"]) ?? null;
  if (json === null) return { value: null, bytes: 0 };
  const text = String(json);
  return { value: JSON.parse(text) as Json, bytes: text.length };
}

async function readParted(db: SqliteDatabase, parts: string, owner: string): Promise<SizedValue> {
  const slices = createSlices(owner);
  await slices.next();
  const bytes = await readParts(db, parts, slices);
  if (bytes === undefined) throw new ValueGone();
  return { value: (await parseLargeJson(bytes, slices)) as Json, bytes: bytes.length };
}

export async function toRun(db: SqliteDatabase, row: SqliteRow): Promise<RunRecord> {
  const status = toRunStatus(row);
  const input = await readValue(db, status.id, row, "input");
  return { ...status, input, result: await readValue(db, status.id, row, "result") };
}

export const STATUS_COLUMNS = `id, parent_id, path, name, title, created_at_ms, tenant, status, epoch,
  owner, ending, ended_at_ms, next_seq, journal`;

export function toRunStatus(row: SqliteRow): RunStatus {
  return {
    id: fromColumn(row["id"]),
    parent_id: fromNullable(row["parent_id"]),
    path: fromColumn(row["path"]),
    name: fromColumn(row["name"]),
    title: fromColumn(row["title"]),
    created_at_ms: Number(row["created_at_ms"]),
    tenant: fromNullable(row["tenant"]),
    status: row["status"] as RunRecord["status"],
    epoch: Number(row["epoch"]),
    owner: fromNullable(row["owner"]),
    ending: (row["ending"] ?? null) as RunRecord["ending"],
    ended_at_ms: row["ended_at_ms"] as number | null,
    next_seq: Number(row["next_seq"]),
    journal: Number(row["journal"]),
  };
}

export function toUnfinishedRun(row: SqliteRow): UnfinishedRun {
  return {
    id: fromColumn(row["id"]),
    parent_id: fromNullable(row["parent_id"]),
    name: fromColumn(row["name"]),
    owner: fromNullable(row["owner"]),
    epoch: Number(row["epoch"]),
    created_at_ms: Number(row["created_at_ms"]),
    journal: Number(row["journal"]),
  };
}
