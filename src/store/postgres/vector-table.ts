/**
 * The table `offshoot_vectors.vectors`: a copy of the embeddings of `chunks`, in a form that pgvector searches. All of
 * it is made from `chunks` and can be made again: it is in a schema of its own, so that a dump of the schema
 * `offshoot` can be restored without pgvector.
 *
 * `store migrate` creates it if the server has pgvector, also long after the chunks were written. A trigger adds a row
 * without a vector for each chunk of a process that does not know the table yet, so that no chunk is missed. The index
 * `vectors_by_store` is created last: if it exists, every chunk with an embedding has a row.
 */

import { systemClock } from "../../base/clock.ts";
import { findPgvector, MAX_INDEXED_LENGTH, MAX_LENGTH, type Pgvector } from "./pgvector.ts";
import type { PostgresDatabase, Queries, Reads } from "./postgres-database.ts";
import { type Client, loadDriver } from "./postgres-driver.ts";
import { toStoreFailure } from "./postgres-fault.ts";

export const VECTORS = "offshoot_vectors.vectors";
export const VECTOR_SCHEMA = "offshoot_vectors";
const BY_STORE = "vectors_by_store";

/** A lock of our own, other than that of the tables: two processes that create it at the same time take turns. */
const LOCK = 0x4f667676;
const LOCK_MS = 100;
/** Chunks that are read and written at a time: 500 embeddings of 1,536 numbers are 3 MB. */
const FILLED_AT_ONCE = 500;
/** An index of a million vectors takes minutes. */
const LONG_MS = 24 * 3_600_000;
/**
 * How much memory the server may use to create an index; with less than the graph needs it takes ten times as long.
 */
const INDEX_MEMORY = "512MB";

/**
 * Indexes that every table has, because adding one later needs `store migrate`: the lengths of common embedding
 * models. An index without rows costs nothing.
 */
const USUAL_LENGTHS = [256, 384, 512, 768, 1024, 1536, 2048, 3072];

export interface VectorTable extends Pgvector {
  /** The lengths of vectors that have an index. */
  readonly lengths: ReadonlySet<number>;
}

/** Undefined without a table, or if it does not have every chunk yet. */
export async function findVectorTable(db: Reads): Promise<VectorTable | undefined> {
  const indexes = await readIndexes(db);
  if (!indexes.some(({ name, isValid }) => name === BY_STORE && isValid)) return undefined;
  const found = await findPgvector(db);
  if (found.kind !== "usable") return undefined;
  const lengths = indexes.flatMap(({ length, isValid }) => (length && isValid ? [length] : []));
  return { version: found.version, schema: found.schema, lengths: new Set(lengths) };
}

/** Creates what is missing, and continues what an interrupted call left. */
export async function makeVectorTable(db: PostgresDatabase): Promise<void> {
  const found = await findPgvector(db);
  if (found.kind === "missing" || found.kind === "old") return;
  if (found.kind === "usable" && (await isWhole(db))) return;
  const { createClient } = await loadDriver();
  const client = createClient(db.address, LONG_MS);
  client.on("error", () => {});
  try {
    await client.connect();
    await db.transact(async (tx) => {
      await takeLock(tx);
      await makeParts(db, client);
    });
  } catch (cause) {
    // Without the right to create an extension or a schema, vectors are searched in memory; `describeVectors` says so.
    if (!isRefused(cause)) throw toStoreFailure(db.name, cause);
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * For as long as the transaction is open, because a pooler would keep a lock of the connection. It asks again and
 * again, without a snapshot in between: an index that is created `concurrently` waits for all older snapshots.
 */
async function takeLock(tx: Queries): Promise<void> {
  await tx.run("set transaction isolation level read committed");
  // This transaction does nothing while the indexes are created, which takes minutes.
  await tx.run("set local idle_in_transaction_session_timeout = 0");
  for (;;) {
    // The number is written into the statement: with a parameter Postgres keeps the snapshot until the next statement.
    const row = await tx.get(`select pg_try_advisory_xact_lock(${LOCK}) as taken`);
    if (row?.["taken"] === true) return;
    await systemClock.sleep(LOCK_MS, undefined);
  }
}

async function isWhole(db: PostgresDatabase): Promise<boolean> {
  const table = await findVectorTable(db);
  if (!table) return false;
  const lengths = await readLengths(db);
  return lengths.every((length) => table.lengths.has(length)) && !(await hasWaiting(db));
}

async function makeParts(db: PostgresDatabase, client: Client): Promise<void> {
  await client.query("create extension if not exists vector");
  const found = await findPgvector(db);
  if (found.kind !== "usable") return;
  // While it waited for the lock, another process may have created everything.
  if (await isWhole(db)) return;
  await client.query(toTable(found));
  await fill(db, found);
  await makeIndexes(db, client, found);
  await client.query(`analyze ${VECTORS}`);
}

/** Servers continue meanwhile: `concurrently` is slower, but blocks no writer. An empty table does not need it. */
async function makeIndexes(
  db: PostgresDatabase,
  client: Client,
  pgvector: Pgvector,
): Promise<void> {
  // Without parallel workers: those share the memory of the graph in /dev/shm, which is small in containers.
  await client.query(
    `set maintenance_work_mem = '${INDEX_MEMORY}'; set max_parallel_maintenance_workers = 0`,
  );
  for (const { name, isValid } of await readIndexes(db)) {
    if (!isValid) await client.query(`drop index ${VECTOR_SCHEMA}.${name}`);
  }
  const isEmpty = (await db.get(`select 1 from ${VECTORS} limit 1`)) === undefined;
  const create = `create index ${isEmpty ? "" : "concurrently"} if not exists`;
  for (const length of await readLengths(db)) {
    await client.query(`${create} ${toNearIndex(pgvector, length)}`);
  }
  const columns = "tenant, store, model, length, file";
  await client.query(`${create} ${BY_STORE} on ${VECTORS} (${columns})`);
}

function toTable({ schema }: Pgvector): string {
  return `
    create schema if not exists ${VECTOR_SCHEMA};
    create table if not exists ${VECTORS} (
      chunk_id bigint primary key references offshoot.chunks (id) on delete cascade,
      tenant text collate "C" not null,
      store text collate "C" not null,
      file text collate "C" not null,
      model text collate "C" not null,
      length integer not null,
      vector ${schema}.halfvec    -- null until it is written
    );
    -- Gone with an extension that was dropped.
    alter table ${VECTORS} add column if not exists vector ${schema}.halfvec;
    -- In the row where it fits: comparing many would look up each elsewhere.
    alter table ${VECTORS} alter column vector set storage main;
    create index if not exists vectors_waiting on ${VECTORS} (tenant, store) where vector is null;
    -- A restored dump has the trigger and not the table.
    create or replace function offshoot.vector_waits() returns trigger language plpgsql as $$ begin
      if to_regclass('${VECTORS}') is not null then
        insert into ${VECTORS} (chunk_id, tenant, store, file, model, length)
          values (new.id, new.tenant, new.store, new.file, new.model, length(new.embedding) / 4)
          on conflict (chunk_id) do nothing;
      end if;
      return null;
    end $$;
    create or replace trigger vector_waits after insert on offshoot.chunks
      for each row when (new.embedding is not null and new.model is not null)
      execute function offshoot.vector_waits();`;
}

/** One column has vectors of all lengths; an index has one length. */
function toNearIndex({ schema }: Pgvector, length: number): string {
  return `vectors_near_${length} on ${VECTORS}
    using hnsw ((vector::${schema}.halfvec(${length})) ${schema}.halfvec_cosine_ops)
    where length = ${length}`;
}

const NEAR = /^vectors_near_(\d+)$/;

/** Adds the vectors that are missing, in the order of the chunks. It does not repeat what it has done. */
async function fill(db: PostgresDatabase, pgvector: Pgvector): Promise<void> {
  let after = 0;
  for (;;) {
    const rows = await db.all(
      `select c.id, c.embedding from offshoot.chunks c left join ${VECTORS} v on v.chunk_id = c.id
        where c.id > $1 and c.embedding is not null and c.model is not null and v.vector is null
        order by c.id limit $2`,
      ...[after, FILLED_AT_ONCE],
    );
    const last = rows.at(-1);
    if (!last) return;
    after = Number(last["id"]);
    const vectors = rows.map((row) => ({
      id: Number(row["id"]),
      vector: toVector(row["embedding"]),
    }));
    await writeVectors(db, pgvector, vectors);
  }
}

interface ChunkVector {
  readonly id: number;
  readonly vector: Float32Array;
}

/** Writes the vectors of chunks that still exist. */
export async function writeVectors(
  db: PostgresDatabase,
  { schema }: Pgvector,
  vectors: readonly ChunkVector[],
): Promise<void> {
  const sql = `insert into ${VECTORS} (chunk_id, tenant, store, file, model, length, vector)
    select c.id, c.tenant, c.store, c.file, c.model, length(c.embedding) / 4, v.vector::${schema}.halfvec
    from unnest($1::bigint[], $2::text[]) as v (id, vector)
    join offshoot.chunks c on c.id = v.id
    for key share of c
    on conflict (chunk_id) do update set vector = excluded.vector`;
  const ids = vectors.map(({ id }) => id);
  const texts = vectors.map(({ vector }) => toHalfvec(vector));
  await db.write(({ run }) => run(sql, ids, texts));
}

/**
 * In pgvector's format; null for a vector that it does not take. Five digits are more than a half-precision number
 * has.
 */
export function toHalfvec(vector: Float32Array): string | null {
  if (vector.length === 0 || vector.length > MAX_LENGTH) return null;
  let text = "[";
  for (let at = 0; at < vector.length; at++) {
    const value = vector[at] ?? 0;
    // Embeddings have the length 1. A value too large for half precision was not made by an embedder.
    if (!(Math.abs(value) <= 1e4)) return null;
    text += at === 0 ? round(value) : `,${round(value)}`;
  }
  return `${text}]`;
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** Copied, because the driver's bytes may begin at an address where floats cannot. */
export function toVector(bytes: unknown): Float32Array {
  return new Float32Array(Uint8Array.from(bytes as Uint8Array).buffer);
}

/** Before another record is copied into this one: its rows come without the triggers. */
export async function dropVectorTable(tx: Queries): Promise<void> {
  await tx.run(`drop trigger if exists vector_waits on offshoot.chunks`);
  await tx.run(`drop function if exists offshoot.vector_waits()`);
  await tx.run(`drop schema if exists ${VECTOR_SCHEMA} cascade`);
}

interface FoundIndex {
  readonly name: string;
  readonly isValid: boolean;
  /** The length of its vectors; undefined for another index. */
  readonly length: number | undefined;
}

async function readIndexes(db: Reads): Promise<FoundIndex[]> {
  const rows = await db.all(
    `select c.relname as name, i.indisvalid as valid from pg_index i
      join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = '${VECTOR_SCHEMA}'`,
  );
  return rows.map((row) => {
    const name = String(row["name"]);
    const digits = NEAR.exec(name)?.[1];
    return { name, isValid: row["valid"] === true, length: digits ? Number(digits) : undefined };
  });
}

/** The lengths that should have an index: the usual ones, and those of the existing chunks. */
async function readLengths(db: Reads): Promise<number[]> {
  const lengths = await countLengths(db);
  const indexed = [...lengths.keys()].filter((length) => length <= MAX_INDEXED_LENGTH);
  return [...new Set([...USUAL_LENGTHS, ...indexed])].filter((length) => length > 0);
}

/** How many vectors there are of each length. */
export async function countLengths(db: Reads): Promise<Map<number, number>> {
  const sql = `select length, count(*) as n from ${VECTORS} group by length order by length`;
  const rows = await db.all(sql);
  return new Map(rows.map((row) => [Number(row["length"]), Number(row["n"])]));
}

async function hasWaiting(db: Reads): Promise<boolean> {
  return (await db.get(`select 1 from ${VECTORS} where vector is null limit 1`)) !== undefined;
}

const REFUSED = "42501";

function isRefused(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === REFUSED;
}
