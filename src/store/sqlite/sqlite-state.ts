/** How a record in a SQLite file is doing, from the tables `workers`, `turns`, `storage` and `things`. */

import { MAX_COUNTED, MAX_KINDS, MAX_WORKERS, type RecordState } from "../record-state.ts";
import { fromColumn } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

export function createSqliteState(db: SqliteDatabase): RecordState {
  return {
    async listWorkers(nowMs) {
      const rows = db.all(WORKERS, MAX_WORKERS);
      return rows.map((row) => ({
        id: fromColumn(row["id"]),
        host: fromColumn(row["host"]),
        pid: Number(row["pid"]),
        silent_ms: Math.max(0, nowMs - Number(row["beat_at_ms"])),
        runs: Number(row["runs"]),
      }));
    },
    async listLanes() {
      return db.all(LANES).map((row) => ({
        queue: fromColumn(row["queue"]),
        lane: fromColumn(row["lane"]),
        running: Number(row["running"]),
        waiting: Number(row["waiting"]),
        oldest_at_ms: row["oldest"] === null ? null : Number(row["oldest"]),
      }));
    },
    async listStorage() {
      const rows = db.all("select tenant, bytes from storage order by bytes desc, tenant");
      return rows.map(({ tenant, bytes }) => ({
        tenant: fromColumn(tenant),
        bytes: Number(bytes),
      }));
    },
    async countKinds() {
      return db.all(KINDS).map(({ tenant, kind, count }) => ({
        tenant: fromColumn(tenant),
        kind: fromColumn(kind),
        count: Number(count),
      }));
    },
  };
}

/** Lists processes. One that has ended properly has no heartbeat and is left out. */
const WORKERS = `select w.*, coalesce(r.runs, 0) as runs from workers w
  left join (select owner, count(*) as runs from runs where status = 'running' group by owner) r
    on r.owner = w.id
  where w.beat_at_ms > 0 order by w.beat_at_ms desc limit ?`;

const LANES = `select t.queue, t.lane, sum(t.has_turn) as running, sum(1 - t.has_turn) as waiting,
    min(iif(t.has_turn = 0, r.created_at_ms, null)) as oldest
  from turns t join runs r on r.id = t.run_id
  group by t.queue, t.lane order by t.queue, waiting desc, t.lane`;

/** Steps from each tenant and kind to the next along an index, and counts each up to a limit. */
const KINDS = `with recursive
    kinds (tenant, kind) as (
      select * from (select tenant, kind from things order by tenant, kind limit 1)
      union all
      select (select t.tenant from things t where (t.tenant, t.kind) > (k.tenant, k.kind)
          order by t.tenant, t.kind limit 1),
        (select t.kind from things t where (t.tenant, t.kind) > (k.tenant, k.kind)
          order by t.tenant, t.kind limit 1)
      from kinds k where k.tenant is not null),
    owners (tenant) as (
      select * from (select tenant from run_facts where parent_id is null order by tenant limit 1)
      union all
      select (select f.tenant from run_facts f where f.parent_id is null and f.tenant > o.tenant
        order by f.tenant limit 1)
      from owners o where o.tenant is not null)
  select tenant, kind, (select count(*) from (select 1 from things t
      where t.tenant = kinds.tenant and t.kind = kinds.kind limit ${MAX_COUNTED})) as count
    from kinds where tenant is not null
  union all
  select tenant, 'run', (select count(*) from (select 1 from run_facts f
      where f.parent_id is null and f.tenant = owners.tenant limit ${MAX_COUNTED}))
    from owners where tenant is not null
  order by 1, 2 limit ${MAX_KINDS}`;
