/**
 * Messages in the table `signals`. Functions that take or leave one are called inside a
 * transaction.
 */

import type { Json } from "../../base/json.ts";
import type { FoundSignal } from "../mailbox.ts";
import { checkWaiting } from "../refusal.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import type { Queries, Reads } from "./postgres-database.ts";

const LEFT = "run_id = $1 and topic = $2 and not taken";

export async function put(
  tx: Queries,
  id: string,
  { topic, key, body }: { topic: string; key: string; body: Json },
): Promise<void> {
  const place = [toColumn(id), toColumn(topic)];
  const sql = `select coalesce(sum(length(body)), 0) as n from offshoot.signals where ${LEFT}`;
  checkWaiting(Number((await tx.get(sql, ...place))?.["n"]));
  await tx.run(
    `insert into offshoot.signals (run_id, topic, key, body) values ($1, $2, $3, $4)
      on conflict do nothing`,
    ...[...place, toColumn(key), JSON.stringify(body)],
  );
}

export async function hasAny(db: Reads, id: string, topic: string): Promise<boolean> {
  const sql = `select 1 from offshoot.signals where ${LEFT} limit 1`;
  return (await db.get(sql, toColumn(id), toColumn(topic))) !== undefined;
}

/** How many of a topic were taken before. */
export async function countTaken(tx: Reads, id: string, topic: string): Promise<number> {
  const sql =
    "select count(*) as n from offshoot.signals where run_id = $1 and topic = $2 and taken";
  return Number((await tx.get(sql, toColumn(id), toColumn(topic)))?.["n"]);
}

/** Takes the oldest, at most `limit`. */
export async function take(tx: Queries, id: string, topic: string, limit: number): Promise<Json[]> {
  const sql = `with oldest as (
      select id from offshoot.signals where ${LEFT} order by id limit $3),
    taken as (update offshoot.signals set taken = true
      where id in (select id from oldest) returning id, body)
    select body from taken order by id`;
  const rows = await tx.all(sql, toColumn(id), toColumn(topic), limit);
  return rows.map(({ body }) => JSON.parse(String(body)) as Json);
}

export async function find(db: Reads, owner: string, topic: string): Promise<FoundSignal[]> {
  const sql = `select distinct on (s.run_id) s.run_id, s.body, s.id from offshoot.signals as s
    join offshoot.runs as r on r.id = s.run_id
    where s.topic = $1 and not s.taken and r.status = 'running' and r.owner = $2
    order by s.run_id, s.id`;
  const rows = await db.all(
    `select * from (${sql}) as oldest order by id`,
    toColumn(topic),
    toColumn(owner),
  );
  return rows.map((row) => ({
    run_id: fromColumn(row["run_id"]),
    body: JSON.parse(String(row["body"])) as Json,
  }));
}
