/**
 * The table `audit`. What waits is written in one insert after at most `FLUSH_MS`: a crash loses that much
 * of the log. A disk that takes nothing for a while loses entries beyond `MAX_ENTRIES`, the oldest first,
 * and never the request.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { nextTurn } from "../../base/turn.ts";
import {
  type Audit,
  type AuditEntry,
  type AuditQuery,
  MAX_ENTRIES,
  type StoredAuditEntry,
} from "../audit.ts";
import type { Database } from "./sqlite-database.ts";
import type { SqlRow, SqlValue } from "./sqlite-driver.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "./text-column.ts";

const FLUSH_MS = 1000;
/** In one transaction: other processes wait for it, some milliseconds. */
const PRUNED = 500;

/** The caller closes the database, after this. */
export function createSqliteAudit(db: Database, clock: Clock = systemClock): Audit {
  let waiting: AuditEntry[] = [];
  let timer: AbortController | undefined;
  let flushing: Promise<void> | undefined;

  function write(entry: AuditEntry): void {
    waiting.push(entry);
    if (waiting.length > MAX_ENTRIES) waiting.shift();
    if (!timer) flushLater();
  }

  function flushLater(): void {
    timer = new AbortController();
    const flushed = clock.sleep(FLUSH_MS, timer.signal).then(() => {
      timer = undefined;
      return flush();
    });
    // Stopped by `close`, or refused by the disk: what waits is tried again with the next entry.
    flushed.catch(() => {});
  }

  /** One at a time: entries that come while another process holds the file wait in memory. */
  function flush(): Promise<void> {
    flushing ??= insert().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  async function insert(): Promise<void> {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    const sql = `insert into audit (at_ms, tenant, key_id, action, target, status, address)
      select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
      from json_each(?) order by key`;
    try {
      await db.write("process", () => db.run(sql, JSON.stringify(batch.map(toColumns))));
    } catch (thrown) {
      waiting = [...batch, ...waiting].slice(-MAX_ENTRIES);
      throw thrown;
    }
  }

  /** With what came while a batch was on its way. */
  async function flushAll(): Promise<void> {
    await flushing?.catch(() => {});
    await flush();
  }

  return {
    write,
    async list(query) {
      await flushAll();
      const asked = toConditions(query);
      const where = asked.length === 0 ? "" : `where ${asked.map(([sql]) => sql).join(" and ")}`;
      const values = asked.flatMap(([, ...of]) => of);
      const sql = `select * from audit ${where} order by id desc limit ?`;
      return db.all(sql, ...values, query.limit).map(toEntry);
    },
    async prune(beforeMs) {
      await flushAll();
      const sql = `delete from audit where id in
        (select id from audit where at_ms < ? order by at_ms limit ${PRUNED})`;
      while ((await db.write("process", () => db.run(sql, beforeMs))) === PRUNED) await nextTurn();
    },
    async close() {
      timer?.abort();
      timer = undefined;
      await flushAll();
    },
  };
}

type Condition = readonly [sql: string, ...values: SqlValue[]];

function toConditions({ before, keyId, tenant, time, action, status }: AuditQuery): Condition[] {
  const all: (Condition | undefined)[] = [
    before === undefined ? undefined : ["id < ?", before],
    keyId === undefined ? undefined : ["key_id = ?", toColumn(keyId)],
    tenant === undefined ? undefined : ["tenant = ?", toColumn(tenant)],
    time && ["at_ms >= ? and at_ms < ?", ...time],
    action === undefined ? undefined : ["instr(action, ?) > 0", toColumn(action)],
    status && ["status >= ? and status < ?", ...status],
  ];
  return all.filter((one) => one !== undefined);
}

function toColumns(entry: AuditEntry): (string | number | null)[] {
  const { at_ms, tenant, key_id, action, target, status, address } = entry;
  const text = [toColumn(tenant), toNullable(key_id), toColumn(action), toNullable(target)];
  return [at_ms, ...text, status, toNullable(address)];
}

function toEntry(row: SqlRow): StoredAuditEntry {
  return {
    id: Number(row["id"]),
    at_ms: Number(row["at_ms"]),
    tenant: fromColumn(row["tenant"]),
    key_id: fromNullable(row["key_id"]),
    action: fromColumn(row["action"]),
    target: fromNullable(row["target"]),
    status: Number(row["status"]),
    address: fromNullable(row["address"]),
  };
}
