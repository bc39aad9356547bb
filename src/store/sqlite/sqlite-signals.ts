/** Messages in the table `signals`. What takes or leaves one is called inside a transaction. */

import type { Json } from "../../base/json.ts";
import type { FoundSignal } from "../mailbox.ts";
import { checkWaiting } from "../refusal.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteValue } from "./sqlite-driver.ts";

const LEFT =
  "select id, body from signals where run_id = ? and topic = ? and taken = 0 order by id";

export class SqliteSignals {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  put(id: string, signal: { topic: string; key: string; body: Json }): void {
    const sql = `select coalesce(sum(length(body)), 0) as n from signals
      where run_id = ? and topic = ? and taken = 0`;
    checkWaiting(Number(this.#db.get(sql, ...toPlace(id, signal.topic))?.["n"]));
    this.#db.run(
      "insert into signals (run_id, topic, key, body) values (?, ?, ?, ?) on conflict do nothing",
      ...[toColumn(id), toColumn(signal.topic), toColumn(signal.key), JSON.stringify(signal.body)],
    );
  }

  /** Also outside of a transaction. */
  hasAny(id: string, topic: string): boolean {
    return this.#db.get(`${LEFT} limit 1`, ...toPlace(id, topic)) !== undefined;
  }

  /** How many of a topic were taken before. */
  countTaken(id: string, topic: string): number {
    const sql = "select count(*) as n from signals where run_id = ? and topic = ? and taken = 1";
    return Number(this.#db.get(sql, ...toPlace(id, topic))?.["n"]);
  }

  /** Takes the oldest, at most `limit`. */
  take(id: string, topic: string, limit: number): Json[] {
    const left = this.#db.all(`${LEFT} limit ?`, ...toPlace(id, topic), limit);
    for (const row of left) {
      this.#db.run("update signals set taken = 1 where id = ?", row["id"] ?? null);
    }
    return left.map(({ body }) => JSON.parse(String(body)) as Json);
  }

  find(owner: string, topic: string): FoundSignal[] {
    // A cross join keeps its order: running runs are few, messages of the past may be many.
    const sql = `select run_id, body from runs cross join signals
      on runs.id = signals.run_id and topic = ? and taken = 0
      where status = 'running' and owner = ? order by signals.id`;
    const found = new Map<string, Json>();
    for (const row of this.#db.all(sql, toColumn(topic), toColumn(owner))) {
      const run = fromColumn(row["run_id"]);
      if (!found.has(run)) found.set(run, JSON.parse(String(row["body"])) as Json);
    }
    return [...found].map(([run_id, body]) => ({ run_id, body }));
  }
}

function toPlace(id: string, topic: string): SqliteValue[] {
  return [toColumn(id), toColumn(topic)];
}
