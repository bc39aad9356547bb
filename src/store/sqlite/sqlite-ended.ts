/**
 * A run that is written down after it has ended. What `sqlite-notes.ts` would write of its events one by one is folded
 * in memory, by the rules of `memory-fold.ts`, so that each table has its rows at once. One suite holds both to the
 * same rows.
 */

import type { NewRun, RunFinish } from "../journal.ts";
import { JOURNAL_VERSION } from "../journal-version.ts";
import { type IndexedRun, MemoryFold } from "../memory/memory-fold.ts";
import { toStored } from "../new-run.ts";
import { toDay } from "../run-notes.ts";
import { toColumn, toNullable } from "../text-column.ts";
import type { Database } from "./sqlite-database.ts";
import { type ReadyValue, sizeOfValue, writeValue } from "./sqlite-values.ts";

export type EndedFinish = Omit<RunFinish, "firstSeq">;

/** Its input, events and result, ready to be written. */
export interface ReadyRun {
  readonly input: ReadyValue;
  readonly events: ReadyValue;
  readonly result: ReadyValue;
}

/** Inside a transaction. */
export function insertEnded(db: Database, run: NewRun, end: EndedFinish, ready: ReadyRun): void {
  const id = toColumn(run.id);
  const text = [run.path, run.name, run.title].map(toColumn);
  db.run(
    `insert into runs (id, parent_id, path, name, title, created_at_ms, epoch, journal, tenant,
        status, ending, ended_at_ms, next_seq)
      values (?, ?, ?, ?, ?, ?, 1, ?, ?, 'ended', ?, ?, ?)`,
    ...[id, toNullable(run.parent_id), ...text, run.created_at_ms, run.journal ?? JOURNAL_VERSION],
    ...[toNullable(run.tenant ?? null), end.ending, end.at_ms, end.events.length],
  );
  // Blobs refer to the run, so the run must be there first.
  const input = writeValue(db, id, ready.input);
  const result = writeValue(db, id, ready.result);
  const events = writeValue(db, id, ready.events);
  const bytes = [ready.input, ready.result, ready.events].map(sizeOfValue);
  db.run(
    `update runs set input = ?, input_blob = ?, result = ?, result_blob = ?, bytes = ? where id = ?`,
    ...[input.inline, input.blob, result.inline, result.blob],
    ...[bytes.reduce((sum, one) => sum + one, 0), id],
  );
  db.run(
    `insert into events (run_id, first_seq, count, epoch, body, body_blob) values (?, 0, ?, 1, ?, ?)`,
    ...[id, end.events.length, events.inline, events.blob],
  );
  insertRows(db, foldEnded(run, end));
}

function foldEnded(run: NewRun, end: EndedFinish): IndexedRun {
  const index = new MemoryFold();
  index.add(toStored(run));
  index.note(run.id, 0, end.events);
  index.end(run.id, end);
  return index.rowsOf(run.id) as IndexedRun;
}

function insertRows(db: Database, { facts, spans, usage, questions }: IndexedRun): void {
  const [id, root] = [toColumn(facts.id), toColumn(facts.root_id)];
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
