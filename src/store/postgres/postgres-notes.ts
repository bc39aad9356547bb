/** Rows of `run-notes.ts` in Postgres: as a value of the statement that writes the events, and for older runs. */

import type { Json } from "../../base/json.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import { NOTED_EVENTS, type Note, rootOf, toNotes, toTaskFacts } from "../run-notes.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { Queries } from "./postgres-database.ts";
import type { PostgresRow, PostgresValue } from "./postgres-driver.ts";
import { readSized } from "./postgres-values.ts";

/** The notes of a batch for `offshoot.note`; null for most batches. */
export function toNotesValue(firstSeq: number, events: readonly RunEvent[]): string | null {
  const notes = toNotes(firstSeq, events);
  return notes.length === 0 ? null : JSON.stringify(notes.map(toColumns));
}

/** Texts as columns hold them: Postgres takes no NUL out of JSON. */
function toColumns(note: Note): Json {
  const entries = Object.entries(note).map(([field, value]): [string, Json] => {
    if (field === "body") return [field, JSON.stringify(value)];
    return [field, typeof value === "string" ? toColumn(value) : (value as Json)];
  });
  return Object.fromEntries(entries);
}

interface NotedRun {
  readonly id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly title: string;
  readonly created_at_ms: number;
  readonly input: Json;
}

/** The run itself is there already. */
export const INSERT_FACTS = `insert into offshoot.run_facts (run_id, root_id, parent_id, name, title,
    created_at_ms, model, label, agent, session, folder, key_id, tenant)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
    coalesce($12::text, (select key_id from offshoot.run_facts where run_id = $3)),
    coalesce((select tenant from offshoot.runs where id = $1), '${DEFAULT_TENANT}')
  on conflict do nothing`;

export function toFactValues(run: NotedRun): PostgresValue[] {
  const { model, label, agent, session, folder, key_id } = toTaskFacts(run.input);
  return [
    ...[toColumn(run.id), toColumn(rootOf(run.id)), toNullable(run.parent_id)],
    ...[toColumn(run.name), toColumn(run.title), run.created_at_ms],
    ...[model, label, agent, session, folder, key_id].map(toNullable),
  ];
}

const RUNS_AT_ONCE = 200;

/** A migration: the rows of runs that older versions have written. */
export async function noteOldRuns(tx: Queries): Promise<void> {
  for (let last = 0; ; ) {
    // A parent was written before its children.
    const rows = await tx.all(
      `select number, id, parent_id, name, title, created_at_ms, input, input_parts
        from offshoot.runs where number > $1 order by number limit ${RUNS_AT_ONCE}`,
      last,
    );
    if (rows.length === 0) break;
    for (const row of rows) {
      last = Number(row["number"]);
      await noteOldRun(tx, row);
    }
  }
  for (const sql of END_OLD) await tx.run(sql);
}

async function noteOldRun(tx: Queries, row: PostgresRow): Promise<void> {
  const id = fromColumn(row["id"]);
  const input = (await readSized(tx, id, row, "input"))?.value ?? null;
  const run = {
    id,
    parent_id: fromNullable(row["parent_id"]),
    input,
    name: fromColumn(row["name"]),
    title: fromColumn(row["title"]),
    created_at_ms: Number(row["created_at_ms"]),
  };
  await tx.run(INSERT_FACTS, ...toFactValues(run));
  const types = NOTED_EVENTS.map((type) => `'${type}'`).join(", ");
  const events = await tx.all(
    `select seq, event::text as event from offshoot.run_events
      where run_id = $1 and type in (${types}) order by seq`,
    toColumn(id),
  );
  for (const { seq, event } of events) {
    const notes = toNotesValue(Number(seq), [JSON.parse(String(event)) as RunEvent]);
    if (notes) await tx.get("select offshoot.note($1, $2::json)", toColumn(id), notes);
  }
}

/** As the trigger of endings does from now on. */
const END_OLD = [
  `update offshoot.run_facts f set status = 'ended', ending = r.ending, ended_at_ms = r.ended_at_ms,
    turn_seq = null, turn_at_ms = null from offshoot.runs r where r.id = f.run_id and r.status = 'ended'`,
  `update offshoot.spans s set status = 'cut', ended_at_ms = r.ended_at_ms
    from offshoot.runs r where r.id = s.run_id and r.status = 'ended' and s.ended_at_ms is null`,
  `update offshoot.questions q set closed_at_ms = r.ended_at_ms
    from offshoot.runs r where r.id = q.run_id and r.status = 'ended' and q.closed_at_ms is null`,
];
