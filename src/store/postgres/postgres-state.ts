/** The state of a record in a Postgres database, from the tables `workers`, `turns`, `storage` and `things`. */

import { MAX_COUNTED, MAX_KINDS, MAX_WORKERS, type RecordState } from "../record-state.ts";
import { fromColumn } from "../text-column.ts";
import type { Reads } from "./postgres-database.ts";

export function createPostgresState(db: Reads): RecordState {
  return {
    async listWorkers() {
      const rows = await db.all(WORKERS, MAX_WORKERS);
      return rows.map((row) => ({
        id: fromColumn(row["id"]),
        host: fromColumn(row["host"]),
        pid: Number(row["pid"]),
        silent_ms: Math.max(0, Number(row["silent_ms"])),
        runs: Number(row["runs"]),
      }));
    },
    async listLanes() {
      return (await db.all(LANES)).map((row) => ({
        queue: fromColumn(row["queue"]),
        lane: fromColumn(row["lane"]),
        running: Number(row["running"]),
        waiting: Number(row["waiting"]),
        oldest_at_ms: row["oldest"] === null ? null : Number(row["oldest"]),
      }));
    },
    async listStorage() {
      const sql = `select tenant, sum(bytes)::bigint as bytes from offshoot.storage
        group by tenant order by 2 desc, tenant`;
      return (await db.all(sql)).map(({ tenant, bytes }) => ({
        tenant: fromColumn(tenant),
        bytes: Number(bytes),
      }));
    },
    async countKinds() {
      return (await db.all(KINDS)).map(({ tenant, kind, count }) => ({
        tenant: fromColumn(tenant),
        kind: fromColumn(kind),
        count: Number(count),
      }));
    },
  };
}

/** A worker that has said farewell has no beat. */
const WORKERS = `select w.id, w.host, w.pid,
    extract(epoch from clock_timestamp() - w.beaten_at) * 1000 as silent_ms, count(r.id) as runs
  from offshoot.workers w
  left join offshoot.runs r on r.owner = w.id and r.status = 'running'
  where w.beat_at_ms > 0 group by w.id order by w.beaten_at desc limit $1`;

const LANES = `select t.queue, t.lane, count(*) filter (where t.has_turn) as running,
    count(*) filter (where not t.has_turn) as waiting,
    min(r.created_at_ms) filter (where not t.has_turn) as oldest
  from offshoot.turns t join offshoot.runs r on r.id = t.run_id
  group by t.queue, t.lane order by t.queue, waiting desc, t.lane`;

/** Steps from each tenant and kind to the next along an index, and counts each up to a limit. */
const KINDS = `with recursive
    kinds as (
      (select tenant, kind from offshoot.things order by tenant, kind limit 1)
      union all
      select n.tenant, n.kind from kinds k, lateral (select t.tenant, t.kind
        from offshoot.things t where (t.tenant, t.kind) > (k.tenant, k.kind)
        order by t.tenant, t.kind limit 1) n),
    owners as (
      (select tenant from offshoot.run_facts where parent_id is null order by tenant limit 1)
      union all
      select n.tenant from owners o, lateral (select f.tenant from offshoot.run_facts f
        where f.parent_id is null and f.tenant > o.tenant order by f.tenant limit 1) n)
  select tenant, kind, (select count(*) from (select 1 from offshoot.things t
      where t.tenant = kinds.tenant and t.kind = kinds.kind limit ${MAX_COUNTED}) c) as count
    from kinds
  union all
  select tenant, 'run', (select count(*) from (select 1 from offshoot.run_facts f
      where f.parent_id is null and f.tenant = owners.tenant limit ${MAX_COUNTED}) c)
    from owners
  order by 1, 2 limit ${MAX_KINDS}`;
