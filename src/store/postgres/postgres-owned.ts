/**
 * The writes of a run's owner, as statements: each checks the owner's epoch, counts the bytes and the events, and
 * writes, or changes no row. If the connection is lost, the write may have succeeded or not: the holder of the epoch
 * is the only writer, so the numbers say which (`isAppended`, `isFinished`).
 */

import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import type { NewRun } from "../journal.ts";
import { JOURNAL_VERSION } from "../journal-version.ts";
import { firstEpoch } from "../new-run.ts";
import { toRefusal, toRepeatedStep, toUnknownThing } from "../refusal.ts";
import { fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { Queries, Reads } from "./postgres-database.ts";
import type { PostgresRow } from "./postgres-driver.ts";
import { faultOf } from "./postgres-fault.ts";
import { INSERT_FACTS, toFactValues } from "./postgres-notes.ts";
import { insertThings, lockParents, NAMED, toNameColumns } from "./postgres-things.ts";
import { readSized, type Written, writeValue } from "./postgres-values.ts";

/** The state of a run that its owner expects. */
export interface Belief {
  readonly id: string;
  readonly epoch: number;
  readonly firstSeq?: number | undefined;
  /** How many events it writes. */
  readonly count?: number | undefined;
}

/** The check of the owner, and the counting, in every statement that an owner makes. */
const OWNED = `update offshoot.runs set bytes = bytes + `;

/** Writes the notes of the events; true, even without notes. */
function noted(notes: string): string {
  return `case when ${notes}::text is null then true else offshoot.note($1, ${notes}::json) end`;
}

export const APPEND = `with owned as (${OWNED} $3, next_seq = next_seq + $5
    where id = $1 and epoch = $2 and status = 'running' and next_seq = $4 returning id),
  logged as (insert into offshoot.events (run_id, first_seq, count, epoch, body, body_parts)
    select id, $4, $5, $2, $6, $7 from owned where $5 > 0)
  select 1 from owned where ${noted("$8")}`;

const STEP = `with owned as (${OWNED} $6
    where id = $1 and epoch = $2 and status = 'running'
      and ($7::bigint is null or next_seq = $7) returning id)
  insert into offshoot.steps (run_id, key, epoch, value, value_parts)
    select id, $3, $2, $4, $5 from owned`;

const STEP_WITH_EVENTS = `with owned as (${OWNED} $6, next_seq = next_seq + $8
    where id = $1 and epoch = $2 and status = 'running' and next_seq = $7 returning id),
  logged as (insert into offshoot.events (run_id, first_seq, count, epoch, body, body_parts)
    select id, $7, $8, $2, $9, $10 from owned)
  insert into offshoot.steps (run_id, key, epoch, value, value_parts)
    select id, $3, $2, $4, $5 from owned where ${noted("$11")}`;

interface StepRow {
  readonly key: string;
  readonly value: Written;
  /** The events that go with it; undefined if there are none. */
  readonly log: Written | undefined;
  /** The notes of these events, for `offshoot.note`. */
  readonly notes: string | null;
}

/** Returns how many rows it changed: none is a refusal. */
export async function writeStep(
  { db, queries, isRetry }: { db: Reads; queries: Queries; isRetry: boolean },
  belief: Belief,
  { key, value, log, notes }: StepRow,
): Promise<number> {
  const { id, epoch, firstSeq = null, count = 0 } = belief;
  const bytes = value.bytes + (log?.bytes ?? 0);
  const values = [toColumn(id), epoch, toColumn(key), value.inline, value.parts, bytes];
  try {
    if (!log) return await queries.run(STEP, ...values, firstSeq);
    const batch = [firstSeq, count, log.inline, log.parts, notes];
    return await queries.run(STEP_WITH_EVENTS, ...values, ...batch);
  } catch (thrown) {
    if (!isRepeated(thrown)) throw thrown;
    // The owner is checked first: an earlier owner must not learn of a step that is there already.
    await checkOwner(db, isRetry ? { id, epoch } : belief);
    if (isRetry && (await hasStep(db, belief, key))) return 1;
    throw toRepeatedStep(id, key);
  }
}

async function hasStep(db: Reads, { id, epoch }: Belief, key: string): Promise<boolean> {
  const sql = "select 1 from offshoot.steps where run_id = $1 and epoch = $2 and key = $3";
  return (await db.get(sql, toColumn(id), epoch, toColumn(key))) !== undefined;
}

/** The value that this owner has journaled under a key; undefined if there is none. */
export async function readStep(
  db: Reads,
  { id, epoch }: Belief,
  key: string,
): Promise<{ readonly value: Json } | undefined> {
  const sql = `select value, value_parts from offshoot.steps
    where run_id = $1 and epoch = $2 and key = $3`;
  const row = await db.get(sql, toColumn(id), epoch, toColumn(key));
  return row && (await readSized(db, id, row, "value"));
}

function isRepeated(thrown: unknown): boolean {
  return thrown instanceof Failure && faultOf(thrown.cause) === "repeated";
}

/** True for a run that an earlier try of this write has created, whose answer was lost. */
export function isOwn(row: PostgresRow, { owner = null, created_at_ms }: NewRun): boolean {
  return fromNullable(row["owner"]) === owner && row["created_at_ms"] === created_at_ms;
}

export async function insertRun(tx: Queries, run: NewRun): Promise<boolean> {
  const id = toColumn(run.id);
  const parent = toNullable(run.parent_id);
  const owner = toNullable(run.owner ?? null);
  const text = [run.path, run.name, run.title].map(toColumn);
  const inserted = await tx.run(
    `insert into offshoot.runs
      (id, parent_id, path, name, title, created_at_ms, owner, epoch, tenant, journal)
      values ($1, $2, $3, $4, $5, $6, $7, $8,
        coalesce($9::text, (select tenant from offshoot.runs where id = $2)), $10)
      on conflict do nothing`,
    ...[id, parent, ...text, run.created_at_ms, owner, firstEpoch(run)],
    toNullable(run.tenant ?? null),
    run.journal ?? JOURNAL_VERSION,
  );
  if (inserted === 0) return false;
  await checkNeeds(tx, run);
  await insertThings(tx, run.things ?? []);
  const input = await writeValue(tx, run.id, run.input);
  await tx.run(
    "update offshoot.runs set input = $2, input_parts = $3, bytes = bytes + $4 where id = $1",
    ...[id, input.inline, input.parts, input.bytes],
  );
  await tx.run(INSERT_FACTS, ...toFactValues(run));
  const belief = { id: run.id, epoch: firstEpoch(run) };
  for (const { key, value } of run.steps ?? []) await insertStep(tx, belief, key, value);
  return true;
}

/** Whoever deletes one of them waits from here on. All locks of the run at once, in their one order. */
async function checkNeeds(tx: Queries, { needs = [], things = [] }: NewRun): Promise<void> {
  if (needs.length === 0) return;
  const parents = things.map(({ tenant, parent }) => ({ tenant, id: parent }));
  await lockParents(tx, [...needs, ...parents]);
  for (const name of needs) {
    const sql = `select 1 from offshoot.things where ${NAMED}`;
    if (!(await tx.get(sql, ...toNameColumns(name)))) throw toUnknownThing(name);
  }
}

/** Inside a transaction that holds the run's row. */
export async function insertStep(
  tx: Queries,
  { id, epoch }: Belief,
  key: string,
  value: Json,
): Promise<void> {
  const { inline, parts, bytes } = await writeValue(tx, id, value);
  const values = [toColumn(id), epoch, toColumn(key), inline, parts, bytes];
  await tx.run(STEP, ...values, null);
}

/** No process claims, ends or appends to it before the transaction is over. */
export async function lockOwned(tx: Queries, belief: Belief): Promise<void> {
  await tx.get("select 1 from offshoot.runs where id = $1 for update", toColumn(belief.id));
  await checkOwner(tx, { id: belief.id, epoch: belief.epoch });
}

export async function checkOwner(db: Reads, belief: Belief): Promise<void> {
  const refusal = toRefusal(await readCurrent(db, belief.id), belief);
  if (refusal) throw refusal;
}

type Current = Pick<RunRecord, "epoch" | "status" | "next_seq">;

export async function readCurrent(db: Reads, id: string): Promise<Current | undefined> {
  const sql = "select epoch, status, next_seq from offshoot.runs where id = $1";
  const row = await db.get(sql, toColumn(id));
  if (!row) return undefined;
  const status = row["status"] as RunRecord["status"];
  return { epoch: Number(row["epoch"]), status, next_seq: Number(row["next_seq"]) };
}

/** True if events that may have been written were: no other process writes with this epoch. */
export async function isAppended(
  db: Reads,
  { id, epoch, firstSeq, count = 0 }: Belief,
): Promise<boolean> {
  const now = await readCurrent(db, id);
  if (!now || firstSeq === undefined || count === 0) return false;
  return now.epoch === epoch && now.next_seq === firstSeq + count;
}

export async function isFinished(db: Reads, belief: Belief): Promise<boolean> {
  const now = await readCurrent(db, belief.id);
  return now?.status === "ended" && now.epoch === belief.epoch;
}
