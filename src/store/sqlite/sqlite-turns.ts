/** Turns in the tables `turns` and `lanes`. All but `countWaiting` are called inside a transaction. */

import { fromColumn, toColumn } from "../text-column.ts";
import {
  isFull,
  type NewPlace,
  type Queue,
  type QueuePlace,
  type TakenTurn,
  TURN_KEY,
} from "../turns.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** The runs that may get a turn: those that their owner has given up. */
const TAKEABLE = `from turns as t join runs as r on r.id = t.run_id
  where t.queue = ? and t.has_turn = 0 and r.owner is null and r.epoch > 0 and r.status = 'running'`;

const NEXT = `select t.run_id, t.lane from turns as t join runs as r on r.id = t.run_id
  left join lanes as l on l.queue = t.queue and l.lane = t.lane
  where t.queue = ? and t.has_turn = 0 and r.owner is null and r.epoch > 0 and r.status = 'running'
    and r.journal <= ?
  order by coalesce(l.last_turn, 0), r.created_at_ms, r.rowid limit 1`;

export class SqliteTurns {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  isFull(place: NewPlace): boolean {
    const counts = this.#db.get(
      `select count(*) filter (where has_turn = 1) as inside,
        count(*) filter (where has_turn = 0) as waiting,
        count(*) filter (where has_turn = 0 and lane = ?) as of_lane from turns where queue = ?`,
      ...[toColumn(place.lane), place.queue],
    );
    const inside = Number(counts?.["inside"]);
    const waiting = Number(counts?.["waiting"]);
    return isFull(place, { inside, waiting, ofLane: Number(counts?.["of_lane"]) });
  }

  add(id: string, { queue, lane }: Pick<QueuePlace, "queue" | "lane">): void {
    const sql = "insert into turns (run_id, queue, lane) values (?, ?, ?) on conflict do nothing";
    this.#db.run(sql, toColumn(id), queue, toColumn(lane));
  }

  await(id: string, place: QueuePlace): boolean {
    const run = toColumn(id);
    const known = this.#db.get("select has_turn from turns where run_id = ?", run);
    if (known?.["has_turn"] === 1) return true;
    this.add(id, place);
    // A run that waits already comes first, by the order of the lanes.
    if (this.#hasRoom(place) && this.countWaiting(place.queue) === 0) {
      this.#give(run, place.queue, toColumn(place.lane));
      return true;
    }
    this.#db.run("update runs set owner = null where id = ?", run);
    return false;
  }

  giveBack(id: string): void {
    this.#db.run("update turns set has_turn = 0 where run_id = ?", toColumn(id));
  }

  countWaiting(queue: string): number {
    return Number(this.#db.get(`select count(*) as n ${TAKEABLE}`, queue)?.["n"]);
  }

  take(owner: string, queue: Queue, journal: number): TakenTurn | undefined {
    if (!this.#hasRoom(queue)) return undefined;
    const next = this.#db.get(NEXT, queue.queue, journal);
    if (!next) return undefined;
    const run = String(next["run_id"]);
    this.#give(run, queue.queue, String(next["lane"]));
    const claim =
      "update runs set epoch = epoch + 1, owner = ?, journal = ? where id = ? returning epoch";
    const epoch = Number(this.#db.get(claim, toColumn(owner), journal, run)?.["epoch"]);
    // A run that gave its turn back may get another.
    const entry = `insert into steps (run_id, key, epoch, value) values (?, ?, ?, ?)
      on conflict do update set epoch = excluded.epoch, value = excluded.value`;
    this.#db.run(entry, run, TURN_KEY, epoch, JSON.stringify(epoch));
    return { id: fromColumn(run), epoch };
  }

  #hasRoom({ queue, atOnce }: Queue): boolean {
    const sql = "select count(*) as n from turns where queue = ? and has_turn = 1";
    return Number(this.#db.get(sql, queue)?.["n"]) < atOnce;
  }

  #give(run: string, queue: string, lane: string): void {
    this.#db.run("update turns set has_turn = 1 where run_id = ?", run);
    this.#db.run(
      `insert into lanes (queue, lane, last_turn)
        values (?, ?, (select coalesce(max(last_turn), 0) + 1 from lanes where queue = ?))
        on conflict do update set last_turn = excluded.last_turn`,
      ...[queue, lane, queue],
    );
  }
}
