/**
 * Runs that are written down after they have ended, those of one batch in a transaction of four messages. A run of
 * which another process could know something, or with a large value, is written alone.
 */

import type { Json } from "../../base/json.ts";
import { isLarge } from "../../base/json-pieces.ts";
import type { NewRun } from "../journal.ts";
import { JOURNAL_VERSION } from "../journal-version.ts";
import { type EndedFinish, foldEnded } from "../memory/fold-ended.ts";
import type { IndexedRun } from "../memory/memory-fold.ts";
import { rootOf, toDay } from "../run-notes.ts";
import { type SpendingRows, settleRows, toSettling } from "../spending-rows.ts";
import { STORED_EVENTS } from "../stored-events.ts";
import { fromColumn, toColumn, toNullable } from "../text-column.ts";
import { createBatches } from "./postgres-batches.ts";
import type { PostgresDatabase, Queries } from "./postgres-database.ts";

/** False if there is such a run already. */
export type RecordRun = (run: NewRun, end: EndedFinish) => Promise<boolean>;

interface Recorded {
  readonly run: NewRun;
  readonly end: EndedFinish;
  readonly rows: Rows;
}

const MOST_BYTES = 1024 * 1024;
/** What the rows of a run take beside its values. */
const ROWS_BYTES = 2048;
/** The owner of such a run. */
export const RECORDED = "recorded";

/** `mayBeWritten` is true if an earlier try, whose answer was lost, may have written the run. */
type RecordAlone = (run: NewRun, end: EndedFinish, mayBeWritten: boolean) => Promise<boolean>;

/** `alone` writes one run in a transaction of its own. */
export function createRecorder(db: PostgresDatabase, alone: RecordAlone): RecordRun {
  const record = createBatches<Recorded, boolean>({
    mostBytes: MOST_BYTES,
    sizeOf: ({ rows }) => ROWS_BYTES + rows.bytes,
    async write(batch, onRetry) {
      const written = await db.transact((tx, isRetry) => {
        if (isRetry) onRetry();
        return writeRuns(tx, batch, isRetry);
      });
      return batch.map(async ({ run }) => written.has(run.id));
    },
    alone: ({ run, end }, mayBeWritten) => alone(run, end, mayBeWritten),
  });
  return (run, end) =>
    mayShare(run, end) ? record({ run, end, rows: toRows(run, end) }) : alone(run, end, false);
}

/** Things below others are numbered under a lock, and runs that begin with an ending have a queue: not here. */
function mayShare(run: NewRun, end: EndedFinish): boolean {
  const { things = [], starts = [] } = end;
  const all = [...(run.things ?? []), ...things];
  const own = new Set(all.map(({ id }) => id));
  const isOwn = all.every(({ parent }) => parent === null || own.has(parent));
  const values = [run.input, end.result, STORED_EVENTS.write(end.events)];
  const bodies = all.map(({ body }) => body);
  return run.parent_id === null && starts.length === 0 && isOwn && !isLarge([...values, ...bodies]);
}

/** The ids of the runs that are written by this transaction, or were by an earlier try of it. */
async function writeRuns(
  tx: Queries,
  batch: readonly Recorded[],
  isRetry: boolean,
): Promise<ReadonlySet<string>> {
  const rowsOf = (table: Table): readonly Row[] => batch.flatMap(({ rows }) => rows[table]);
  const keys = [...new Set(rowsOf("spending").map(({ key_id }) => String(key_id)))].sort();
  // In one order, so that two transactions cannot wait for each other.
  if (keys.length > 0) await tx.all(LOCK_KEYS, keys);
  const written = await tx.all(RECORD, ...TABLES.map((table) => JSON.stringify(rowsOf(table))));
  const ids = new Set(written.map(({ id }) => fromColumn(id)));
  if (!isRetry) return ids;
  const made = new Map(batch.map(({ run }) => [run.id, run.created_at_ms]));
  for (const { id, created_at_ms } of await tx.all(FIND, [...made.keys()].map(toColumn))) {
    if (made.get(fromColumn(id)) === Number(created_at_ms)) ids.add(fromColumn(id));
  }
  return ids;
}

const LOCK_KEYS = `select pg_advisory_xact_lock(hashtextextended('key ' || key, 0))
  from unnest($1::text[]) as key`;

const FIND = `select id, created_at_ms from offshoot.runs
  where id = any($1) and owner = '${RECORDED}'`;

/** In the order of the parameters of `RECORD`. */
const TABLES = [
  "runs",
  "events",
  "things",
  "facts",
  "spans",
  "usage",
  "questions",
  "spending",
] as const;

type Table = (typeof TABLES)[number];
type Row = Readonly<Record<string, Json>>;

/** What one run adds to each table. */
interface Rows extends Record<Table, Row[]> {
  /** Of its values. */
  bytes: number;
}

function toRows(run: NewRun, end: EndedFinish): Rows {
  const rows: Rows = {
    bytes: 0,
    runs: [],
    events: [],
    things: [],
    facts: [],
    spans: [],
    usage: [],
    questions: [],
    spending: [],
  };
  addRun(rows, run, end);
  addThings(rows, run, end);
  addNotes(rows, run, end);
  addSpending(rows, run, end);
  return rows;
}

function addRun(rows: Rows, run: NewRun, end: EndedFinish): void {
  const id = toColumn(run.id);
  const input = JSON.stringify(run.input);
  const result = JSON.stringify(end.result);
  const count = end.events.length;
  const body = count > 0 ? JSON.stringify(STORED_EVENTS.write(end.events)) : "";
  rows.bytes = [input, result, body].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  rows.runs.push({
    id,
    path: toColumn(run.path),
    name: toColumn(run.name),
    title: toColumn(run.title),
    created_at_ms: run.created_at_ms,
    tenant: toNullable(run.tenant ?? null),
    journal: run.journal ?? JOURNAL_VERSION,
    ending: end.ending,
    ended_at_ms: end.at_ms,
    next_seq: count,
    input,
    result,
    bytes: rows.bytes,
  });
  if (count > 0) rows.events.push({ run_id: id, count, body });
}

function addThings(rows: Rows, run: NewRun, end: EndedFinish): void {
  for (const thing of [...(run.things ?? []), ...(end.things ?? [])]) {
    rows.things.push({
      run_id: toColumn(run.id),
      tenant: toColumn(thing.tenant),
      kind: toColumn(thing.kind),
      id: toColumn(thing.id),
      parent: toNullable(thing.parent),
      body: JSON.stringify(thing.body),
      created_at_ms: thing.created_at_ms,
      expires_at_ms: thing.expires_at_ms,
    });
  }
}

/** What `offshoot.note` writes of events that come one by one. */
function addNotes(rows: Rows, run: NewRun, end: EndedFinish): void {
  const folded = foldEnded(run, end);
  const ids = { run_id: toColumn(run.id), root_id: toColumn(rootOf(run.id)) };
  rows.facts.push(toFacts(ids, folded.facts));
  for (const span of folded.spans) rows.spans.push(toSpan(ids, span));
  for (const used of folded.usage) rows.usage.push(toUsed(ids, used));
  for (const asked of folded.questions) rows.questions.push(toAsked(ids, asked));
}

interface Ids {
  readonly run_id: string;
  readonly root_id: string;
}

// Each row has all its columns in one literal: objects put together from several get a shape of their own each time on
// Node 20, which cost a tenth of a stored response.

function toFacts({ run_id, root_id }: Ids, facts: IndexedRun["facts"]): Row {
  return {
    run_id,
    root_id,
    tenant: toNullable(facts.tenant),
    key_id: toNullable(facts.key_id),
    name: toNullable(facts.name),
    title: toNullable(facts.title),
    message: toNullable(facts.message),
    model: toNullable(facts.model),
    label: toNullable(facts.label),
    agent: toNullable(facts.agent),
    session: toNullable(facts.session),
    folder: toNullable(facts.folder),
    created_at_ms: facts.created_at_ms,
    ending: facts.ending,
    ended_at_ms: facts.ended_at_ms,
    turns: facts.turns,
    calls: facts.calls,
  };
}

function toSpan({ run_id, root_id }: Ids, span: IndexedRun["spans"][number]): Row {
  return {
    run_id,
    root_id,
    seq: span.seq,
    kind: span.kind,
    turn: span.turn,
    name: toNullable(span.name),
    key: toNullable(span.key),
    under: toNullable(span.under),
    day: toDay(span.started_at_ms),
    started_at_ms: span.started_at_ms,
    ended_at_ms: span.ended_at_ms,
    status: span.status,
    decided_by: span.decided_by,
  };
}

function toUsed({ run_id, root_id }: Ids, used: IndexedRun["usage"][number]): Row {
  return {
    run_id,
    root_id,
    tenant: toNullable(used.tenant),
    key_id: toNullable(used.key_id),
    model: toNullable(used.model),
    label: toNullable(used.label),
    seq: used.seq,
    kind: used.kind,
    turn: used.turn,
    day: used.day,
    at_ms: used.at_ms,
    ms: used.ms,
    input_tokens: used.input_tokens,
    cached_tokens: used.cached_tokens,
    output_tokens: used.output_tokens,
    reasoning_tokens: used.reasoning_tokens,
    usd: used.usd,
  };
}

function toAsked({ run_id, root_id }: Ids, asked: IndexedRun["questions"][number]): Row {
  return {
    run_id,
    root_id,
    question: toNullable(asked.question),
    tenant: toNullable(asked.tenant),
    reason: toNullable(asked.reason),
    body: JSON.stringify(asked.body),
    at_ms: asked.at_ms,
    until_ms: asked.until_ms,
    closed_at_ms: asked.closed_at_ms,
    verdict: asked.verdict,
  };
}

function addSpending(rows: Rows, run: NewRun, { settles }: EndedFinish): void {
  if (!settles) return;
  const writes: Pick<SpendingRows, "add" | "endHold"> = {
    add(of, windows, { requests, tokens, usd, unpriced }) {
      const run_id = toColumn(run.id);
      const key_id = toColumn(of);
      const used = { requests, tokens, usd, unpriced };
      for (const window of windows) rows.spending.push({ run_id, key_id, window, ...used });
    },
    // All holds of the runs are deleted at once.
    endHold() {},
  };
  settleRows(writes, settles.keyId, settles.used, toSettling(run.id, settles));
}

/**
 * Everything that goes with a run goes only with a run that this statement has inserted. The triggers of `runs` look at
 * changes of its rows, so what they do for a run that ends later is done here: its bytes are counted, and its facts say
 * that it has ended.
 */
const RECORD = `with fresh as (
    insert into offshoot.runs (id, path, name, title, created_at_ms, owner, epoch, tenant, journal,
        status, ending, ended_at_ms, next_seq, input, result, bytes)
      select id, path, name, title, created_at_ms, '${RECORDED}', 1, tenant, journal,
        'ended', ending, ended_at_ms, next_seq, input, result, bytes
      from json_to_recordset($1::json) as r (id text, path text, name text, title text,
        created_at_ms bigint, tenant text, journal bigint, ending text, ended_at_ms bigint,
        next_seq bigint, input text, result text, bytes bigint)
      on conflict do nothing returning id, tenant, bytes),
  logged as (
    insert into offshoot.events (run_id, first_seq, count, epoch, body)
      select f.id, 0, e.count, 1, e.body
      from json_to_recordset($2::json) as e (run_id text, count integer, body text)
      join fresh f on f.id = e.run_id collate "C"),
  put as (
    insert into offshoot.things (tenant, kind, id, parent, body, created_at_ms, expires_at_ms)
      select t.tenant, t.kind, t.id, t.parent, t.body, t.created_at_ms, t.expires_at_ms
      from rows from (json_to_recordset($3::json) as (run_id text, tenant text, kind text, id text,
        parent text, body text, created_at_ms bigint, expires_at_ms bigint)) with ordinality as t
        (run_id, tenant, kind, id, parent, body, created_at_ms, expires_at_ms, number)
      join fresh f on f.id = t.run_id collate "C" order by t.number
      on conflict do nothing),
  noted as (
    insert into offshoot.run_facts (run_id, root_id, tenant, key_id, name, title, created_at_ms,
        status, ending, ended_at_ms, message, model, label, agent, session, folder, turns, calls)
      select f.id, n.root_id, n.tenant, n.key_id, n.name, n.title, n.created_at_ms,
        'ended', n.ending, n.ended_at_ms, n.message, n.model, n.label, n.agent, n.session,
        n.folder, n.turns, n.calls
      from json_to_recordset($4::json) as n (run_id text, root_id text, tenant text, key_id text,
        name text, title text, created_at_ms bigint, ending text, ended_at_ms bigint, message text,
        model text, label text, agent text, session text, folder text, turns bigint, calls bigint)
      join fresh f on f.id = n.run_id collate "C"),
  spanned as (
    insert into offshoot.spans (run_id, seq, root_id, kind, turn, name, key, under, day,
        started_at_ms, ended_at_ms, status, decided_by)
      select f.id, s.seq, s.root_id, s.kind, s.turn, s.name, s.key, s.under, s.day,
        s.started_at_ms, s.ended_at_ms, s.status, s.decided_by
      from json_to_recordset($5::json) as s (run_id text, seq bigint, root_id text, kind text,
        turn bigint, name text, key text, under text, day text, started_at_ms bigint,
        ended_at_ms bigint, status text, decided_by text)
      join fresh f on f.id = s.run_id collate "C"),
  used as (
    insert into offshoot.usage (run_id, seq, root_id, tenant, key_id, model, label, kind, turn, day,
        at_ms, ms, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usd)
      select f.id, u.seq, u.root_id, u.tenant, u.key_id, u.model, u.label, u.kind, u.turn, u.day,
        u.at_ms, u.ms, u.input_tokens, u.cached_tokens, u.output_tokens, u.reasoning_tokens, u.usd
      from json_to_recordset($6::json) as u (run_id text, seq bigint, root_id text, tenant text,
        key_id text, model text, label text, kind text, turn bigint, day text, at_ms bigint,
        ms bigint, input_tokens bigint, cached_tokens bigint, output_tokens bigint,
        reasoning_tokens bigint, usd double precision)
      join fresh f on f.id = u.run_id collate "C"
      on conflict do nothing),
  asked as (
    insert into offshoot.questions (run_id, question, seq, root_id, tenant, at_ms, until_ms, body,
        closed_at_ms, verdict, reason)
      select f.id, q.question, 0, q.root_id, q.tenant, q.at_ms, q.until_ms, q.body,
        q.closed_at_ms, q.verdict, q.reason
      from json_to_recordset($7::json) as q (run_id text, question text, root_id text, tenant text,
        at_ms bigint, until_ms bigint, body text, closed_at_ms bigint, verdict text, reason text)
      join fresh f on f.id = q.run_id collate "C"),
  booked as (
    insert into offshoot.spending as s (key_id, "window", requests, tokens, usd, unpriced)
      select b.key_id, b."window", sum(b.requests), sum(b.tokens), sum(b.usd), sum(b.unpriced)
      from json_to_recordset($8::json) as b (run_id text, key_id text, "window" text,
        requests bigint, tokens bigint, usd double precision, unpriced bigint)
      join fresh f on f.id = b.run_id collate "C" group by b.key_id, b."window"
      on conflict (key_id, "window") do update set requests = s.requests + excluded.requests,
        tokens = s.tokens + excluded.tokens, usd = s.usd + excluded.usd,
        unpriced = s.unpriced + excluded.unpriced),
  ended as (delete from offshoot.holds h using fresh f where h.id = f.id),
  counted as (
    select offshoot.count_bytes(tenant, sum(bytes)::bigint) from fresh
      where tenant is not null group by tenant)
  select id from fresh where (select count(*) from counted) >= 0`;
