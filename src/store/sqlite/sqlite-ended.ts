/**
 * A run that is written down after it has ended. What `sqlite-notes.ts` would write of its events one by one is folded
 * in memory (`fold-ended.ts`), so that each table has its rows at once.
 */

import type { NewRun } from "../journal.ts";
import { JOURNAL_VERSION } from "../journal-version.ts";
import { type EndedFinish, foldEnded } from "../memory/fold-ended.ts";
import type { IndexedRun } from "../memory/memory-fold.ts";
import { toDay } from "../run-notes.ts";
import { toColumn, toNullable } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { isInline, type ReadyValue, sizeOfValue, writeValue } from "./sqlite-values.ts";

/** The input, events and result of a run, ready to be written. */
export interface ReadyRun {
  readonly input: ReadyValue;
  readonly events: ReadyValue;
  readonly result: ReadyValue;
}

/** Inside a transaction: false if the run was there before, and nothing is written then. */
export function insertEnded(
  db: SqliteDatabase,
  run: NewRun,
  end: EndedFinish,
  ready: ReadyRun,
): boolean {
  const id = toColumn(run.id);
  const text = [run.path, run.name, run.title].map(toColumn);
  const bytes = [ready.input, ready.result, ready.events].map(sizeOfValue);
  const all = bytes.reduce((sum, one) => sum + one, 0);
  // Written with its row, most runs need no second change of it: that would move the row to another page.
  const isShort = isInline(ready.input) && isInline(ready.result);
  const isNew = db.run(
    `insert into runs (id, parent_id, path, name, title, created_at_ms, epoch, journal, tenant,
        status, ending, ended_at_ms, next_seq, input, result, bytes)
      values (?, ?, ?, ?, ?, ?, 1, ?, ?, 'ended', ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    ...[id, toNullable(run.parent_id), ...text, run.created_at_ms, run.journal ?? JOURNAL_VERSION],
    ...[toNullable(run.tenant ?? null), end.ending, end.at_ms, end.events.length],
    ...(isShort ? [String(ready.input), String(ready.result), all] : [null, null, 0]),
  );
  if (isNew === 0) return false;
  if (isShort) countBytes(db, run.tenant, all);
  else writeLong(db, id, ready, all);
  const events = writeValue(db, id, ready.events);
  db.run(
    `insert into events (run_id, first_seq, count, epoch, body, body_blob) values (?, 0, ?, 1, ?, ?)`,
    ...[id, end.events.length, events.inline, events.blob],
  );
  insertRows(db, foldEnded(run, end));
  return true;
}

/** Blobs refer to the run, so the run is there first. */
function writeLong(db: SqliteDatabase, id: string, ready: ReadyRun, bytes: number): void {
  const input = writeValue(db, id, ready.input);
  const result = writeValue(db, id, ready.result);
  db.run(
    `update runs set input = ?, input_blob = ?, result = ?, result_blob = ?, bytes = ? where id = ?`,
    ...[input.inline, input.blob, result.inline, result.blob, bytes, id],
  );
}

/** As the trigger `runs_counted` does when the bytes of a row change. */
function countBytes(db: SqliteDatabase, tenant: string | null | undefined, bytes: number): void {
  if (tenant === null || tenant === undefined) return;
  db.run(
    `insert into storage (tenant, bytes) values (?, ?)
      on conflict do update set bytes = bytes + excluded.bytes`,
    ...[toColumn(tenant), bytes],
  );
}

function insertRows(db: SqliteDatabase, { facts, spans, usage, questions }: IndexedRun): void {
  const id = toColumn(facts.id);
  const root = toColumn(facts.root_id);
  db.run(
    `insert into run_facts (run_id, root_id, parent_id, tenant, key_id, name, title, created_at_ms,
        status, ending, ended_at_ms, message, model, label, agent, session, folder, turns, calls)
      values (?, ?, ?, ?, ?, ?, ?, ?, 'ended', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, root, toNullable(facts.parent_id), toColumn(facts.tenant), toNullable(facts.key_id)],
    ...[toColumn(facts.name), toColumn(facts.title), facts.created_at_ms],
    ...[facts.ending, facts.ended_at_ms, toColumn(facts.message)],
    ...[facts.model, facts.label, facts.agent, facts.session, facts.folder].map(toNullable),
    ...[facts.turns, facts.calls],
  );
  for (const span of spans) {
    db.run(
      `insert into spans (run_id, seq, root_id, kind, turn, name, key, under, day, started_at_ms,
          ended_at_ms, status, decided_by)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, span.seq, root, span.kind, span.turn],
      ...[span.name, span.key, span.under].map(toNullable),
      ...[toDay(span.started_at_ms), span.started_at_ms, span.ended_at_ms],
      ...[span.status, span.decided_by],
    );
  }
  for (const row of usage) {
    db.run(
      `insert into usage (run_id, seq, root_id, tenant, key_id, model, label, kind, turn, day, at_ms,
          ms, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usd)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, row.seq, root, toColumn(row.tenant)],
      ...[row.key_id, row.model, row.label].map(toNullable),
      ...[row.kind, row.turn, row.day, row.at_ms, row.ms, row.input_tokens, row.cached_tokens],
      ...[row.output_tokens, row.reasoning_tokens, row.usd],
    );
  }
  for (const asked of questions) {
    db.run(
      `insert into questions (run_id, question, seq, root_id, tenant, at_ms, until_ms, body,
          closed_at_ms, verdict, reason)
        values (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, toColumn(asked.question), root, toColumn(asked.tenant), asked.at_ms, asked.until_ms],
      ...[JSON.stringify(asked.body), asked.closed_at_ms, asked.verdict, toNullable(asked.reason)],
    );
  }
}
