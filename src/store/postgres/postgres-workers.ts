/** The processes that run something, in the table `workers`. The database's clock says when each had its last beat. */

import type { Worker } from "../ownership.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import type { PostgresDatabase, Reads } from "./postgres-database.ts";

const BEAT = `insert into offshoot.workers
  (id, host, pid, boot, pid_namespace, started, beat_at_ms, beat_ms)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (id) do update set host = excluded.host, pid = excluded.pid, boot = excluded.boot,
    pid_namespace = excluded.pid_namespace, started = excluded.started,
    beat_at_ms = excluded.beat_at_ms, beat_ms = excluded.beat_ms, beaten_at = clock_timestamp()`;

export async function beat(db: PostgresDatabase, worker: Worker): Promise<void> {
  const { id, host, pid, boot, pid_namespace, started, beat_at_ms, beat_ms } = worker;
  const about = [toColumn(id), toColumn(host), pid, boot, pid_namespace, started];
  await db.write(({ run }) => run(BEAT, ...about, beat_at_ms, beat_ms));
}

export async function getWorker(db: Reads, id: string): Promise<Worker | undefined> {
  const sql = `select *, extract(epoch from clock_timestamp() - beaten_at) * 1000 as silent_ms
    from offshoot.workers where id = $1`;
  const row = await db.get(sql, toColumn(id));
  if (!row) return undefined;
  const text = (name: string): string => String(row[name]);
  const number = (name: string): number => Number(row[name]);
  return {
    id,
    host: fromColumn(row["host"]),
    pid: number("pid"),
    boot: text("boot"),
    pid_namespace: text("pid_namespace"),
    started: text("started"),
    beat_at_ms: number("beat_at_ms"),
    beat_ms: number("beat_ms"),
    silent_ms: number("silent_ms"),
  };
}

/** Removes workers of yesterday that own nothing: every command is a worker for a moment. */
export async function forgetOldWorkers(db: PostgresDatabase): Promise<void> {
  const sql = `delete from offshoot.workers as w
    where w.beaten_at < clock_timestamp() - interval '1 day' and not exists (
      select 1 from offshoot.runs as r where r.owner = w.id and r.status = 'running')`;
  await db.write(({ run }) => run(sql));
}
