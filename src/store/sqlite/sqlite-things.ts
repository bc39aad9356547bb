/**
 * Rows of the table `things`. The body of one is JSON: it stands in its row, or, where it is large, in `parts`,
 * written and read a piece at a time. The rows of a list come without their longer bodies, which are read one by
 * one: nobody knows how many megabytes a page has.
 */

import type { Json } from "../../base/json.ts";
import { parseLargeJson } from "../../base/large-json.ts";
import { createSlices } from "../../base/slices.ts";
import type { NewRun, RunFinish } from "../journal.ts";
import type { NewThing, Thing, ThingHead, ThingName } from "../shelf.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { Database } from "./sqlite-database.ts";
import type { SqlRow, SqlValue } from "./sqlite-driver.ts";
import { keepParts, readParts } from "./sqlite-parts.ts";
import type { ReadyValue, Writing } from "./sqlite-values.ts";

export const NAMED = "tenant = ? and kind = ? and id = ?";

/** Longer bodies are not read with the rows of a list: 500 of those take a few milliseconds. */
const SHORT_BYTES = 8192;

/** Of a row, without its body. */
export const HEAD = "tenant, kind, id, parent, created_at_ms, expires_at_ms, position";

/** Of a list: null stands for a body that is read later. */
export const LISTED = `${HEAD}, parts, case when octet_length(body) <= ${SHORT_BYTES} then body end as body`;

/** What is parsed between two looks at the time, in characters. */
const PIECE_LENGTH = 64 * 1024;

/** What a parted body has in its row: JSON too, so that plain SQL can go over all rows. */
const PARTED = "null";

/** Inside a transaction: how many rows were added. */
export function insertThing(db: Database, thing: NewThing, body: ReadyValue): number {
  const sql = `insert into things
    (tenant, kind, id, parent, created_at_ms, expires_at_ms, body, parts, parts_bytes)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
  const { parent, created_at_ms, expires_at_ms } = thing;
  const rest = [toNullable(parent), created_at_ms, expires_at_ms];
  const added = db.run(sql, ...toNamed(thing), ...rest, ...toBodyColumns(body));
  useParts(db, body, added > 0);
  return added;
}

/** What a transaction that inserts them needs ready. */
export function bodiesOf(things: readonly NewThing[] = []): readonly Json[] {
  return things.map(({ body }) => body);
}

/** What a run that is written down needs ready: its input, then what it brings along. It is its tenant's, or that of the run above it. */
export function toRunWriting({ input, tenant, parent_id, things }: NewRun): Writing {
  return { values: [input, ...bodiesOf(things)], durability: "power", tenant, run: parent_id };
}

/** What an ending needs ready: events, result, what it puts on the shelf, and the inputs of runs that begin with it. */
export function toFinishWriting(id: string, end: Omit<RunFinish, "firstSeq">): Writing {
  const { events, result, things, starts = [] } = end;
  const inputs = starts.map(({ input }) => input);
  const values = [events as unknown as Json, result, ...bodiesOf(things), ...inputs];
  return { values, durability: "power", run: id };
}

/** Inside a transaction; `bodies` are those of the things, in their order. */
export function insertAll(
  db: Database,
  things: readonly NewThing[],
  bodies: readonly ReadyValue[],
): void {
  for (const [at, thing] of things.entries()) insertThing(db, thing, bodies[at] ?? "null");
}

/** Inside a transaction: whether there is such a thing. */
export function setBody(db: Database, name: ThingName, body: ReadyValue): boolean {
  const sql = `update things set body = ?, parts = ?, parts_bytes = ? where ${NAMED}`;
  const isThere = db.run(sql, ...toBodyColumns(body), ...toNamed(name)) > 0;
  useParts(db, body, isThere);
  return isThere;
}

function toBodyColumns(body: ReadyValue): SqlValue[] {
  return typeof body === "string" ? [body, null, 0] : [PARTED, body.parts, body.bytes];
}

function useParts(db: Database, body: ReadyValue, isReferred: boolean): void {
  if (typeof body === "string") return;
  keepParts(db, body.parts, isReferred);
  body.isUsed = true;
}

/** Those of the rows that are still there when their bodies are read. */
export async function readThings(db: Database, rows: readonly SqlRow[]): Promise<Thing[]> {
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
  db: Database,
  row: SqlRow,
  { tenant }: Pick<ThingName, "tenant">,
): Promise<Json | undefined> {
  return await createBodyReader(db, tenant)(row);
}

type ReadBody = (row: SqlRow) => Json | Promise<Json | undefined>;

/** Reads at once as much as costs little, and the rest in the slices of the tenant. */
function createBodyReader(db: Database, tenant: string): ReadBody {
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
  const readLong = async (row: SqlRow): Promise<Json | undefined> => {
    if (chars >= PIECE_LENGTH) await rest();
    const { parts, body } =
      (row["body"] ?? null) === null ? (findBody(db, row["position"]) ?? GONE) : row;
    if ((parts ?? null) === null) return body === undefined ? undefined : parse(String(body));
    await slices.next();
    const bytes = await readParts(db, String(parts), slices);
    if (bytes) return (await parseLargeJson(bytes, slices)) as Json;
    // Its body was replaced in the middle of reading, or it is gone.
    return await readLong({ position: row["position"] ?? null });
  };
  return (row) => {
    const isHere = (row["body"] ?? null) !== null && (row["parts"] ?? null) === null;
    return isHere && chars < PIECE_LENGTH ? parse(String(row["body"])) : readLong(row);
  };
}

const GONE: SqlRow = {};

function findBody(db: Database, position: SqlValue | undefined): SqlRow | undefined {
  return db.get("select body, parts from things where position = ?", position ?? null);
}

export function toNamed({ tenant, kind, id }: ThingName): string[] {
  return [tenant, kind, id].map(toColumn);
}

export function toName(row: SqlRow): ThingName {
  const [tenant, kind, id] = [row["tenant"], row["kind"], row["id"]].map(fromColumn);
  return { tenant: tenant ?? "", kind: kind ?? "", id: id ?? "" };
}

export function toHead(row: SqlRow): ThingHead {
  return {
    ...toName(row),
    parent: fromNullable(row["parent"]),
    created_at_ms: Number(row["created_at_ms"]),
    expires_at_ms: row["expires_at_ms"] as number | null,
    position: Number(row["position"]),
  };
}
