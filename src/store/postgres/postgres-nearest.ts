/**
 * The chunks that are nearest to a vector, found by pgvector: among few vectors by comparing all of them, among many
 * by an index (HNSW), which looks at some thousand. The index is that of all tenants; a scan continues until it has
 * found enough of the requested store, and if it gives up, all vectors of the store are compared.
 *
 * The database compares half-precision numbers, which are rounded. The likeness is then computed from the full
 * embeddings.
 */

import { type Near, type Nearest, toLikeness, type VectorSearch } from "../chunk-store.ts";
import { toColumn } from "../text-column.ts";
import type { PostgresDatabase, Queries } from "./postgres-database.ts";
import type { PostgresValue } from "./postgres-driver.ts";
import { toHalfvec, toVector, VECTORS, type VectorTable, writeVectors } from "./vector-table.ts";

/** Vectors that are compared one by one: 20,000 of 256 numbers take about 10 ms, and the result is exact. */
const COMPARED = 20_000;
/** Chunks without a vector that a search compares itself, and whose vectors it writes. */
const MAX_WAITING = 500;
/** Candidates for each wanted chunk: half-precision numbers are rounded, so a later one may be nearer. */
const FOUND_FOR_ONE = 2;
/** How many candidates the index keeps while it searches: more find more of the best, and take longer. */
const LEAST_CANDIDATES = 200;
const MOST_CANDIDATES = 1000;

const AMONG = `tenant = $1 and store = $2 and model = $3 and ($4::text[] is null or file = any($4))
  and not (file = any($5))`;

/** Undefined if too many of the store's vectors are not written yet. `compared` is for tests. */
export async function findNearest(
  db: PostgresDatabase,
  table: VectorTable,
  search: VectorSearch,
  compared = COMPARED,
): Promise<Nearest | undefined> {
  const near = toHalfvec(search.vector);
  if (near === null) return undefined;
  const among = toAmong(search);
  const { count, waiting } = await look(db, search, compared);
  if (waiting.length > MAX_WAITING) {
    await writeLate(db, table, await readVectors(db, search, waiting.slice(0, MAX_WAITING)));
    return undefined;
  }
  const named = new Set(search.names);
  const wanted = FOUND_FOR_ONE * search.count + named.size;
  const asked: Asked = { near, wanted, length: search.vector.length, among };
  const isMany = count > compared && table.lengths.has(asked.length);
  let ids = isMany ? await findByIndex(db, table, asked) : [];
  if (ids.length < Math.min(wanted, count)) ids = await compareAll(db, table, asked);
  const vectors = await readVectors(db, search, [...new Set([...ids, ...waiting, ...named])]);
  const isWaiting = new Set(waiting);
  await writeLate(
    db,
    table,
    vectors.filter(({ id }) => isWaiting.has(id)),
  );
  return toNearest(vectors, search, named);
}

/**
 * Writes the vectors that another process has not written: they were read here already, and the next search need not
 * do it.
 */
async function writeLate(
  db: PostgresDatabase,
  table: VectorTable,
  late: readonly FoundVector[],
): Promise<void> {
  if (late.length > 0) await writeVectors(db, table, late);
}

interface Asked {
  /** The vector as pgvector reads it. */
  readonly near: string;
  readonly length: number;
  /** How many are wanted. */
  readonly wanted: number;
  /** The values of `AMONG`. */
  readonly among: readonly PostgresValue[];
}

function toAmong({ tenant, store, model, files, except }: VectorSearch): PostgresValue[] {
  return [
    toColumn(tenant),
    toColumn(store),
    model,
    files ? files.map(toColumn) : null,
    except.map(toColumn),
  ];
}

/**
 * How many rows there are to search, up to one more than are compared, and which have no vector yet. The count is read
 * from an index alone.
 */
async function look(
  db: PostgresDatabase,
  search: VectorSearch,
  compared: number,
): Promise<{ readonly count: number; readonly waiting: readonly number[] }> {
  const sql = `select (select count(*) from (select 1 from ${VECTORS} where ${AMONG} and length = $6
        limit $7) as counted) as count,
      array(select chunk_id from ${VECTORS} where ${AMONG} and length = $6
        and vector is null limit $8)::text[] as waiting`;
  const limits = [search.vector.length, compared + 1, MAX_WAITING + 1];
  const row = await db.get(sql, ...toAmong(search), ...limits);
  const waiting = (row?.["waiting"] ?? []) as readonly string[];
  return { count: Number(row?.["count"]), waiting: waiting.map(Number) };
}

/** Orders by an expression without an index: the server sorts all vectors of the store. */
async function compareAll(
  db: PostgresDatabase,
  { schema }: VectorTable,
  { near, length, wanted, among }: Asked,
): Promise<number[]> {
  const sql = `select chunk_id from ${VECTORS}
    where ${AMONG} and length = ${length} and vector is not null
    order by vector operator(${schema}.<=>) $6::${schema}.halfvec limit $7`;
  return toIds(await db.all(sql, ...among, near, wanted));
}

async function findByIndex(
  db: PostgresDatabase,
  table: VectorTable,
  { near, length, wanted, among }: Asked,
): Promise<number[]> {
  const sql = toIndexSql(table, length);
  const candidates = Math.min(MOST_CANDIDATES, Math.max(LEAST_CANDIDATES, 2 * wanted));
  return await db.transact(async (tx: Queries) => {
    await tx.run(
      `set local hnsw.iterative_scan = relaxed_order; set local hnsw.ef_search = ${candidates}`,
    );
    return toIds(await tx.all(sql, ...among, near, wanted));
  });
}

/** The length is written into the statement: only then does the server choose the right index. */
export function toIndexSql({ schema }: VectorTable, length: number): string {
  const type = `${schema}.halfvec(${length})`;
  return `select chunk_id from ${VECTORS} where ${AMONG} and length = ${length}
    order by vector::${type} operator(${schema}.<=>) $6::${type} limit $7`;
}

function toIds(rows: readonly Readonly<Record<string, unknown>>[]): number[] {
  return rows.map((row) => Number(row["chunk_id"]));
}

interface FoundVector {
  readonly id: number;
  readonly vector: Float32Array;
}

async function readVectors(
  db: PostgresDatabase,
  { tenant, store, model }: VectorSearch,
  ids: readonly number[],
): Promise<FoundVector[]> {
  const sql = `select id, embedding from offshoot.chunks where id = any($4::bigint[])
    and tenant = $1 and store = $2 and model = $3 and embedding is not null`;
  const rows = await db.all(sql, toColumn(tenant), toColumn(store), model, ids);
  return rows.map((row) => ({ id: Number(row["id"]), vector: toVector(row["embedding"]) }));
}

function toNearest(
  vectors: readonly FoundVector[],
  { vector: asked, count }: VectorSearch,
  names: ReadonlySet<number>,
): Nearest {
  const named = new Map<number, number>();
  const best: Near[] = [];
  for (const { id, vector } of vectors) {
    const likeness = vector.length === asked.length ? toLikeness(vector, 0, asked) : 0;
    if (names.has(id)) named.set(id, likeness);
    else best.push({ id, likeness });
  }
  best.sort((one, other) => other.likeness - one.likeness || one.id - other.id);
  return { best: best.slice(0, count), named };
}
