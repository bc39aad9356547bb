/** Writes the rows of `run-notes.ts`: called inside the transaction of the events that they are made of. */

import type { Json } from "../../base/json.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import {
  NOTED_EVENTS,
  type Note,
  type NotedUsage,
  rootOf,
  toDay,
  toNotes,
  toTaskFacts,
} from "../run-notes.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { SqliteConnection, SqliteRow, SqliteValue } from "./sqlite-driver.ts";

type Run = (sql: string, ...values: SqliteValue[]) => unknown;

interface NotedRun {
  readonly id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly title: string;
  readonly created_at_ms: number;
  readonly tenant?: string | null | undefined;
  readonly input: Json;
}

/** After the run itself was written. */
export function noteRun(run: Run, noted: NotedRun): void {
  const { model, label, agent, session, folder, key_id } = toTaskFacts(noted.input);
  const parent = toNullable(noted.parent_id);
  const id = toColumn(noted.id);
  run(
    `insert into run_facts (run_id, root_id, parent_id, name, title, created_at_ms, model, label,
        agent, session, folder, key_id, tenant)
      select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
        coalesce(?, (select key_id from run_facts where run_id = ?)),
        coalesce((select tenant from runs where id = ?), '${DEFAULT_TENANT}')
      on conflict do nothing`,
    ...[id, toColumn(rootOf(noted.id)), parent, toColumn(noted.name), toColumn(noted.title)],
    noted.created_at_ms,
    ...[model, label, agent, session, folder, key_id].map(toNullable),
    ...[parent, id],
  );
}

/** The notes of a batch. Most have none, which costs a look at each event's type. */
export function noteEvents(
  run: Run,
  id: string,
  { firstSeq, events }: { readonly firstSeq: number; readonly events: readonly RunEvent[] },
): void {
  for (const note of toNotes(firstSeq, events)) writeNote(run, id, note);
}

const INSERT_SPAN = `insert into spans
    (run_id, seq, root_id, kind, turn, name, key, under, day, started_at_ms)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;

/** The oldest open one: there are servers that give one id to all calls. */
const OPEN_CALL = `run_id = ?1 and seq = (select seq from spans
    where run_id = ?1 and key = ?2 and ended_at_ms is null and kind = 'call' and name = ?3
    order by seq limit 1)`;

const END_CALL = `update spans set ended_at_ms = ?4, status = iif(status = 'denied', status, ?5)
  where ${OPEN_CALL}`;

const END_CHILD = `update spans set ended_at_ms = ?3, status = ?4
  where run_id = ?1 and key = ?2 and ended_at_ms is null and kind = 'child'`;

const statusOf = ({ failed }: { readonly failed: boolean }): string => (failed ? "failed" : "ok");

function writeNote(run: Run, runId: string, note: Note): void {
  const id = toColumn(runId);
  const root = toColumn(rootOf(runId));
  const open = (kind: string, opened: Opened): void => {
    const { seq, turn = null, name = null, key = null, under = null, at_ms } = opened;
    const texts = [name, key, under].map(toNullable);
    run(INSERT_SPAN, id, seq, root, kind, turn, ...texts, toDay(at_ms), at_ms);
  };
  switch (note.note) {
    case "turn":
      run(CUT_TURN, id, note.at_ms);
      open("turn", note);
      run(OPEN_TURN, id, note.turn, note.seq, note.at_ms);
      return;
    case "turn_end":
      return endTurn(run, id, note);
    case "compaction":
      run(CUT_TURN, id, note.at_ms);
      open("compaction", note);
      run(END_SPAN, id, note.seq, note.at_ms);
      run(CLOSE_TURN, id);
      run(INSERT_USAGE, id, note.seq, "compaction", note.turn, note.at_ms, 0, null, ...used(note));
      return;
    case "call":
      open("call", note);
      run("update run_facts set calls = calls + 1 where run_id = ?", id);
      return;
    case "decision":
      return decide(run, id, note);
    case "call_end":
      run(END_CALL, id, toColumn(note.key), toColumn(note.name), note.at_ms, statusOf(note));
      return;
    case "question":
      run(
        ASK,
        ...[id, toColumn(note.question), note.seq, root, note.at_ms, note.until_ms],
        JSON.stringify(note.body),
      );
      return;
    case "child":
      return open("child", note);
    case "child_end":
      run(END_CHILD, id, toColumn(note.key), note.at_ms, statusOf(note));
      return;
    case "resume":
      run(REOPEN, id);
      for (const sql of RELEASE) run(sql, id, note.at_ms);
      return;
    case "end":
      run("update run_facts set message = ? where run_id = ?", toColumn(note.message), id);
      run(REMAINDER, id, note.seq, note.at_ms, ...used(note));
      return;
  }
}

interface Opened {
  readonly seq: number;
  readonly at_ms: number;
  readonly turn?: number;
  readonly name?: string;
  readonly key?: string;
  readonly under?: string;
}

const CUT_TURN = `update spans set status = 'cut', ended_at_ms = ?2 where run_id = ?1
  and seq = (select turn_seq from run_facts where run_id = ?1) and ended_at_ms is null`;
const OPEN_TURN = `update run_facts set turns = max(turns, ?2), turn_seq = ?3, turn_at_ms = ?4
  where run_id = ?1`;
const CLOSE_TURN = "update run_facts set turn_seq = null, turn_at_ms = null where run_id = ?";
const END_SPAN = "update spans set status = 'ok', ended_at_ms = ?3 where run_id = ?1 and seq = ?2";

/** `?6` is what it took; null for as long as the open model call did. */
const INSERT_USAGE = `insert into usage (run_id, seq, root_id, tenant, key_id, model, label, kind,
    turn, day, at_ms, ms, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usd)
  select run_id, coalesce(iif(?3 = 'turn', turn_seq, null), ?2), root_id, tenant, key_id,
    coalesce(?7, model), coalesce(label, agent), ?3, ?4, ?8, ?5,
    coalesce(?6, max(0, ?5 - turn_at_ms), 0), ?9, ?10, ?11, ?12, ?13
  from run_facts where run_id = ?1 on conflict do nothing`;

/** The usage of interrupted calls: they have no end of their own, and the ending of the run counts them. */
const REMAINDER = `insert into usage (run_id, seq, root_id, tenant, key_id, model, label, kind, turn,
    day, at_ms, ms, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usd)
  select f.run_id, ?2, f.root_id, f.tenant, f.key_id, f.model, coalesce(f.label, f.agent), 'cut', null,
    ?4, ?3, 0, max(0, ?5 - u.input), max(0, ?6 - u.cached), max(0, ?7 - u.output),
    max(0, ?8 - u.reasoning), max(0, ?9 - u.usd)
  from run_facts f, (select total(input_tokens) as input, total(cached_tokens) as cached,
      total(output_tokens) as output, total(reasoning_tokens) as reasoning, total(usd) as usd
    from usage where run_id = ?1) u
  where f.run_id = ?1 and ?5 + ?7 > u.input + u.output on conflict do nothing`;

function used({ day, usd, ...tokens }: NotedUsage): SqliteValue[] {
  const { input_tokens, cached_tokens, output_tokens, reasoning_tokens } = tokens;
  return [day, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usd];
}

function endTurn(run: Run, id: string, note: Extract<Note, { note: "turn_end" }>): void {
  const { seq, turn, at_ms } = note;
  run(INSERT_USAGE, id, seq, "turn", turn, at_ms, null, toNullable(note.model), ...used(note));
  run(
    `update spans set status = 'ok', ended_at_ms = ?2 where run_id = ?1
      and seq = (select turn_seq from run_facts where run_id = ?1)`,
    ...[id, at_ms],
  );
  run(CLOSE_TURN, id);
}

const ASK = `insert into questions (run_id, question, seq, root_id, tenant, at_ms, until_ms, body)
  select ?1, ?2, ?3, ?4, tenant, ?5, ?6, ?7 from run_facts where run_id = ?1
  on conflict (run_id, question) do update set seq = excluded.seq, at_ms = excluded.at_ms,
    until_ms = excluded.until_ms, body = excluded.body, closed_at_ms = null, verdict = null,
    reason = null`;

function decide(run: Run, id: string, note: Extract<Note, { note: "decision" }>): void {
  const { key, name, verdict, by, reason, question, at_ms } = note;
  run(
    `update spans set decided_by = ?4, status = iif(?5 = 'deny', 'denied', status)
      where ${OPEN_CALL}`,
    ...[id, toColumn(key), toColumn(name), by, verdict],
  );
  if (question === null) return;
  run(
    `update questions set closed_at_ms = ?, verdict = ?, reason = ?
      where run_id = ? and question = ?`,
    ...[at_ms, verdict, toColumn(reason), id, toColumn(question)],
  );
}

/** The process that worked on the run is gone: what it had open begins again, and questions are asked again. */
const REOPEN = `update run_facts set turn_seq = null, turn_at_ms = null, calls = calls - (
    select count(*) from spans where run_id = ?1 and kind = 'call' and ended_at_ms is null)
  where run_id = ?1`;
const RELEASE = [
  `update spans set status = 'cut', ended_at_ms = ?2
    where run_id = ?1 and ended_at_ms is null and kind <> 'child'`,
  "update questions set closed_at_ms = ?2 where run_id = ?1 and closed_at_ms is null",
];

/** The rows of runs that older versions have written. A migration, so inside its transaction. */
export function noteOldRuns(connection: SqliteConnection): void {
  const statements = new Map<string, ReturnType<SqliteConnection["prepare"]>>();
  const prepared = (sql: string): ReturnType<SqliteConnection["prepare"]> => {
    const known = statements.get(sql) ?? connection.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const run: Run = (sql, ...values) => prepared(sql).run(...values);
  const types = NOTED_EVENTS.map((type) => `'${type}'`).join(", ");
  const events = `select seq, event from run_events
    where run_id = ? and type in (${types}) order by seq`;
  // A parent was written before its children: what they have of it is there.
  const runs =
    prepared(`select r.rowid as number, id, parent_id, name, title, created_at_ms, ending,
      ended_at_ms, status, coalesce(r.input, nullif(b.body, ''), (
        select group_concat(cast(bytes as text), '') from (
          select bytes from parts where parts.id = b.parts order by part))) as input
    from runs r left join blobs b on b.run_id = r.id and b.sha256 = r.input_blob
    where r.rowid > ? order by r.rowid limit 1`);
  for (let last = -1; ; ) {
    const row = runs.get(last);
    if (!row) return;
    last = Number(row["number"]);
    const id = fromColumn(row["id"]);
    noteRun(run, {
      id,
      parent_id: fromNullable(row["parent_id"]),
      name: fromColumn(row["name"]),
      title: fromColumn(row["title"]),
      created_at_ms: Number(row["created_at_ms"]),
      input: JSON.parse(String(row["input"] ?? "null")) as Json,
    });
    for (const { seq, event } of prepared(events).all(row["id"] ?? null)) {
      const read = JSON.parse(String(event)) as RunEvent;
      noteEvents(run, id, { firstSeq: Number(seq), events: [read] });
    }
    if (row["status"] === "ended") endOld(run, row);
  }
}

/** As the trigger of endings does from now on. */
function endOld(run: Run, { id = null, ending = null, ended_at_ms = null }: SqliteRow): void {
  run(
    `update run_facts set status = 'ended', ending = ?, ended_at_ms = ?, turn_seq = null,
      turn_at_ms = null where run_id = ?`,
    ...[ending, ended_at_ms, id],
  );
  const at = ended_at_ms ?? 0;
  run(
    "update spans set status = 'cut', ended_at_ms = ? where run_id = ? and ended_at_ms is null",
    ...[at, id],
  );
  run("update questions set closed_at_ms = ? where run_id = ? and closed_at_ms is null", at, id);
}
