/** Turns in the tables `turns` and `lanes`. All functions except `countWaiting` are called inside a transaction. */

import { fromColumn, toColumn } from "../text-column.ts";
import {
  isFull as isLaneFull,
  type NewPlace,
  type Queue,
  type QueuePlace,
  type TakenTurn,
  TURN_KEY,
} from "../turns.ts";
import type { Queries, Reads } from "./postgres-database.ts";

/** Runs that may be given a turn: those that their owners have given up. */
const TAKEABLE = `from offshoot.turns as t join offshoot.runs as r on r.id = t.run_id
  left join offshoot.lanes as l on l.queue = t.queue and l.lane = t.lane
  where t.queue = $1 and not t.has_turn and r.owner is null and r.epoch > 0 and r.status = 'running'`;

/** Locks a queue, so that only one process at a time counts its runs and acts on the count. */
export async function lockQueue(tx: Queries, queue: string): Promise<void> {
  await tx.get("select pg_advisory_xact_lock(hashtextextended('queue ' || $1, 0))", queue);
}

export async function isFull(tx: Reads, place: NewPlace): Promise<boolean> {
  const counts = await tx.get(
    `select count(*) filter (where has_turn) as inside,
      count(*) filter (where not has_turn) as waiting,
      count(*) filter (where not has_turn and lane = $1) as of_lane
      from offshoot.turns where queue = $2`,
    ...[toColumn(place.lane), place.queue],
  );
  const inside = Number(counts?.["inside"]);
  const waiting = Number(counts?.["waiting"]);
  return isLaneFull(place, { inside, waiting, ofLane: Number(counts?.["of_lane"]) });
}

export async function add(
  tx: Queries,
  id: string,
  { queue, lane }: Pick<QueuePlace, "queue" | "lane">,
): Promise<void> {
  const sql = `insert into offshoot.turns (run_id, queue, lane) values ($1, $2, $3)
    on conflict do nothing`;
  await tx.run(sql, toColumn(id), queue, toColumn(lane));
}

export async function awaitTurn(tx: Queries, id: string, place: QueuePlace): Promise<boolean> {
  const run = toColumn(id);
  const known = await tx.get("select has_turn from offshoot.turns where run_id = $1", run);
  if (known?.["has_turn"] === true) return true;
  await add(tx, id, place);
  // Runs that wait already come first, by the order of the lanes.
  if ((await hasRoom(tx, place)) && (await countWaiting(tx, place.queue)) === 0) {
    await give(tx, run, place.queue, toColumn(place.lane));
    return true;
  }
  await tx.run("update offshoot.runs set owner = null where id = $1", run);
  return false;
}

export async function giveBack(tx: Queries, id: string): Promise<void> {
  await tx.run("update offshoot.turns set has_turn = false where run_id = $1", toColumn(id));
}

export async function countWaiting(db: Reads, queue: string): Promise<number> {
  return Number((await db.get(`select count(*) as n ${TAKEABLE}`, queue))?.["n"]);
}

export async function take(
  tx: Queries,
  owner: string,
  queue: Queue,
  journal: number,
): Promise<TakenTurn | undefined> {
  if (!(await hasRoom(tx, queue))) return undefined;
  const order = "order by coalesce(l.last_turn, 0), r.created_at_ms, r.number limit 1";
  const known = `select t.run_id, t.lane ${TAKEABLE} and r.journal <= $2 ${order}`;
  const next = await tx.get(known, queue.queue, journal);
  if (!next) return undefined;
  const run = String(next["run_id"]);
  await give(tx, run, queue.queue, String(next["lane"]));
  const claim = `update offshoot.runs set epoch = epoch + 1, owner = $1, journal = $3
    where id = $2 returning epoch`;
  const epoch = Number((await tx.get(claim, toColumn(owner), run, journal))?.["epoch"]);
  // A run that gave its turn back may be given another.
  const entry = `insert into offshoot.steps (run_id, key, epoch, value) values ($1, $2, $3, $4)
    on conflict (run_id, key) do update set epoch = excluded.epoch, value = excluded.value`;
  await tx.run(entry, run, TURN_KEY, epoch, JSON.stringify(epoch));
  return { id: fromColumn(run), epoch };
}

/** True if this owner has it, since this epoch. */
export async function isTaken(tx: Reads, owner: string, taken: TakenTurn): Promise<boolean> {
  const sql = "select 1 from offshoot.runs where id = $1 and owner = $2 and epoch = $3";
  const row = await tx.get(sql, toColumn(taken.id), toColumn(owner), taken.epoch);
  return row !== undefined;
}

async function hasRoom(tx: Reads, { queue, atOnce }: Queue): Promise<boolean> {
  const sql = "select count(*) as n from offshoot.turns where queue = $1 and has_turn";
  return Number((await tx.get(sql, queue))?.["n"]) < atOnce;
}

async function give(tx: Queries, run: string, queue: string, lane: string): Promise<void> {
  await tx.run("update offshoot.turns set has_turn = true where run_id = $1", run);
  await tx.run(
    `insert into offshoot.lanes (queue, lane, last_turn)
      values ($1, $2, (select coalesce(max(last_turn), 0) + 1 from offshoot.lanes where queue = $1))
      on conflict (queue, lane) do update set last_turn = excluded.last_turn`,
    ...[queue, lane],
  );
}
