/**
 * Rows of the table `things`. The body of one is JSON: it stands in its row, or, where it is large, in `parts`,
 * written and read a piece at a time. The rows of a list come without their longer bodies, which are read one by
 * one: the size of a page is not known before.
 */

import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import { parseLargeJson } from "../../base/large-json.ts";
import { createSlices } from "../../base/slices.ts";
import type { NewRun, RunFinish } from "../journal.ts";
import type { NewThing, Thing, ThingHead, ThingName } from "../shelf.ts";
import { STORED_EVENTS } from "../stored-events.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteRow, SqliteValue } from "./sqlite-driver.ts";
import { keepParts, readParts } from "./sqlite-parts.ts";
import type { ReadyValue, ValueWriting } from "./sqlite-values.ts";

export const NAMED = "tenant = ? and kind = ? and id = ?";

/** Longer bodies are not read with the rows of a list: 500 of those take a few milliseconds. */
const SHORT_BYTES = 8192;

/** The columns of a row without its body. */
export const HEAD = "tenant, kind, id, parent, created_at_ms, expires_at_ms, position";

/** The columns of a list: null stands for a body that is read later. */
export const LISTED = `${HEAD}, parts, case when octet_length(body) <= ${SHORT_BYTES} then body end as body`;

/** A run and all below it. */
export const DELETE_TREE = `with recursive tree (id) as (
    values (?) union select runs.id from tree cross join runs on runs.parent_id = tree.id)
  delete from runs where id in (select id from tree)`;

/** How many characters are parsed between two looks at the time. */
const PIECE_LENGTH = 64 * 1024;

/** The value in the row of a body that is stored in parts: JSON too, so that plain SQL can read all rows. */
const PARTED = "null";

/** Inside a transaction: how many rows were added. */
export function insertThing(db: SqliteDatabase, thing: NewThing, body: ReadyValue): number {
  const sql = `insert into things
    (tenant, kind, id, parent, created_at_ms, expires_at_ms, body, parts, parts_bytes)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
  const { parent, created_at_ms, expires_at_ms } = thing;
  const rest = [toNullable(parent), created_at_ms, expires_at_ms];
  const added = db.run(sql, ...toNamed(thing), ...rest, ...toBodyColumns(body));
  useParts(db, body, added > 0);
  return added;
}

/** What must be ready for a transaction that inserts the things of one tenant. */
export function toWriting(things: readonly NewThing[]): ValueWriting {
  return { values: bodiesOf(things), durability: "power", tenant: things[0]?.tenant };
}

function bodiesOf(things: readonly NewThing[] = []): readonly Json[] {
  return things.map(({ body }) => body);
}

/**
 * The values that must be ready when a run is stored: its input, then the things that come with it. It is its
 * tenant's, or that of the run above it.
 */
export function toRunWriting({ input, tenant, parent_id, things }: NewRun): ValueWriting {
  return { values: [input, ...bodiesOf(things)], durability: "power", tenant, run: parent_id };
}

/**
 * The values that must be ready for an ending: events, result, things for the shelf, and inputs of runs that it
 * starts.
 */
export function toFinishWriting(id: string, end: Omit<RunFinish, "firstSeq">): ValueWriting {
  const { events, result, things, starts = [] } = end;
  const inputs = starts.map(({ input }) => input);
  const values = [STORED_EVENTS.write(events), result, ...bodiesOf(things), ...inputs];
  return { values, durability: "power", run: id };
}

/** Inside a transaction: how many rows were added. `bodies` are those of the things, in their order. */
export function insertAll(
  db: SqliteDatabase,
  things: readonly NewThing[],
  bodies: readonly ReadyValue[],
): number {
  let added = 0;
  for (const [at, thing] of things.entries()) added += insertThing(db, thing, bodies[at] ?? "null");
  return added;
}

/** Inside a transaction: whether there is such a thing. Its expiry stays where none is given. */
export function setBody(
  db: SqliteDatabase,
  name: ThingName,
  body: ReadyValue,
  expiry?: number | null,
): boolean {
  const sets = `body = ?, parts = ?, parts_bytes = ?${expiry === undefined ? "" : ", expires_at_ms = ?"}`;
  const values = [...toBodyColumns(body), ...(expiry === undefined ? [] : [expiry])];
  const isThere =
    db.run(`update things set ${sets} where ${NAMED}`, ...values, ...toNamed(name)) > 0;
  useParts(db, body, isThere);
  return isThere;
}

function toBodyColumns(body: ReadyValue): SqliteValue[] {
  return typeof body === "string" ? [body, null, 0] : [PARTED, body.parts, body.bytes];
}

function useParts(db: SqliteDatabase, body: ReadyValue, isReferred: boolean): void {
  if (typeof body === "string") return;
  keepParts(db, body.parts, isReferred);
  body.isUsed = true;
}

/** Reads the things of those rows that still exist when their bodies are read. */
export async function readThings(db: SqliteDatabase, rows: readonly SqliteRow[]): Promise<Thing[]> {
  const things: Thing[] = [];
  const [first] = rows;
  if (!first) return things;
  const reader = createBodyReader(db, fromColumn(first["tenant"]));
  for (const row of rows) {
    const read = reader(row);
    const body = read instanceof Promise ? await read : read;
    if (body !== undefined) things.push({ ...toHead(row), body });
  }
  return things;
}

/** The body of a row that has `body`, `parts` and `position`. Undefined where it was removed meanwhile. */
export async function readBody(
  db: SqliteDatabase,
  row: SqliteRow,
  { tenant }: Pick<ThingName, "tenant">,
): Promise<Json | undefined> {
  return await createBodyReader(db, tenant)(row);
}

type ReadBody = (row: SqliteRow) => Json | Promise<Json | undefined>;

/** Reads at once as much as costs little, and the rest in the slices of the tenant. */
function createBodyReader(db: SqliteDatabase, tenant: string): ReadBody {
  const slices = createSlices(tenant);
  let chars = 0;
  const parse = (text: string): Json => {
    chars += text.length;
    return JSON.parse(text) as Json;
  };
  const rest = async (): Promise<void> => {
    chars = 0;
    if (slices.isOver()) await slices.next();
  };
  const readLong = async (row: SqliteRow, missing?: SqliteValue): Promise<Json | undefined> => {
    if (chars >= PIECE_LENGTH) await rest();
    const { parts, body } = row["body"] == null ? findBody(db, row["position"]) : row;
    if ((parts ?? null) === null) return body === undefined ? undefined : parse(String(body));
    if (parts === missing) throw toPartsLost(String(parts));
    await slices.next();
    const bytes = await readParts(db, String(parts), slices);
    if (bytes) return (await parseLargeJson(bytes, slices)) as Json;
    // The body was replaced in the middle of reading, or the thing is gone.
    return await readLong({ position: row["position"] ?? null }, parts);
  };
  return (row) => {
    const isHere = (row["body"] ?? null) !== null && (row["parts"] ?? null) === null;
    return isHere && chars < PIECE_LENGTH ? parse(String(row["body"])) : readLong(row);
  };
}

const GONE: SqliteRow = {};

function toPartsLost(parts: string): Failure {
  const message = `The store has lost a large value (\`${parts}\`). Restore it from a backup, or delete what it belongs to.`;
  return new Failure("store_failed", message);
}

function findBody(db: SqliteDatabase, position: SqliteValue | undefined): SqliteRow {
  const sql = "select body, parts from things where position = ?";
  return db.get(sql, position ?? null) ?? GONE;
}

export function toNamed({ tenant, kind, id }: ThingName): string[] {
  return [tenant, kind, id].map(toColumn);
}

export function toName(row: SqliteRow): ThingName {
  const [tenant, kind, id] = [row["tenant"], row["kind"], row["id"]].map(fromColumn);
  return { tenant: tenant ?? "", kind: kind ?? "", id: id ?? "" };
}

export function toHead(row: SqliteRow): ThingHead {
  return {
    ...toName(row),
    parent: fromNullable(row["parent"]),
    created_at_ms: Number(row["created_at_ms"]),
    expires_at_ms: row["expires_at_ms"] as number | null,
    position: Number(row["position"]),
  };
}
