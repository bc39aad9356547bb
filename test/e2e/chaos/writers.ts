/**
 * Notes in the database which machine writes what: each row of a log, each finished step and each ending, with its
 * epoch. A machine that stood still while others took its runs over would be found here if it wrote after that.
 *
 * A trigger notes it in the transaction of the write, which holds the run's row, so the notes of a run are in the order
 * of its writes. The name of a machine is the `application_name` of its connections.
 */

import assert from "node:assert/strict";
import type { Cluster } from "./cluster.ts";

/** The address of the same database, with which a machine's connections have its name. */
export function withName(address: string, name: string): string {
  const url = new URL(address);
  url.searchParams.set("application_name", name);
  return url.href;
}

const NOTES: readonly string[] = [
  "create schema chaos",
  `create table chaos.writes (
    id bigint generated always as identity,
    run_id text collate "C" not null,
    epoch bigint not null,
    machine text not null
  )`,
  `create function chaos.note_row() returns trigger language plpgsql as $$ begin
    insert into chaos.writes (run_id, epoch, machine)
      values (new.run_id, new.epoch, current_setting('application_name'));
    return null;
  end $$`,
  `create function chaos.note_ending() returns trigger language plpgsql as $$ begin
    insert into chaos.writes (run_id, epoch, machine)
      values (new.id, new.epoch, current_setting('application_name'));
    return null;
  end $$`,
  `create trigger noted_by_chaos after insert on offshoot.events
    for each row execute function chaos.note_row()`,
  `create trigger noted_by_chaos after insert on offshoot.steps
    for each row execute function chaos.note_row()`,
  `create trigger noted_by_chaos after update of status on offshoot.runs
    for each row when (new.status = 'ended') execute function chaos.note_ending()`,
];

/** Called before the first write of a machine. */
export async function noteWriters({ query }: Pick<Cluster, "query">): Promise<void> {
  for (const sql of NOTES) await query(sql);
}

/** Each of them must be empty. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  "runs with two writers in one epoch": `select run_id, epoch, array_agg(distinct machine) as machines
    from chaos.writes group by run_id, epoch having count(distinct machine) > 1`,
  "writes of an owner after a write of the next one": `select w.* from chaos.writes as w
    where exists (select 1 from chaos.writes as later
      where later.run_id = w.run_id and later.id < w.id and later.epoch > w.epoch)`,
  "writes that were not noted": `select e.run_id from offshoot.events as e
    where not exists (select 1 from chaos.writes as w where w.run_id = e.run_id)`,
};

/** Returns how many writes it has checked. */
export async function checkWriters({ query }: Pick<Cluster, "query">): Promise<number> {
  await query("create index on chaos.writes (run_id, id)");
  for (const [what, sql] of Object.entries(FORBIDDEN)) {
    assert.deepEqual(await query(`${sql} limit 20`), [], what);
  }
  const [row] = await query("select count(*) as count from chaos.writes");
  return Number(row?.["count"]);
}
