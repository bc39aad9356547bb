/** The table `audit`. What waits is written in one insert; `createBufferedAudit` has the rules. */

import { type Clock, systemClock } from "../../base/clock.ts";
import type { Audit, AuditEntry, AuditQuery, StoredAuditEntry } from "../audit.ts";
import { createBufferedAudit } from "../buffered-audit.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteRow, SqliteValue } from "./sqlite-driver.ts";

/** In one transaction: other processes wait for it, some milliseconds. */
const PRUNED = 500;

const INSERT = `insert into audit (at_ms, tenant, key_id, action, target, status, address)
  select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
  from json_each(?) order by key`;

/** The caller closes the database, after this. */
export function createSqliteAudit(db: SqliteDatabase, clock: Clock = systemClock): Audit {
  return createBufferedAudit(
    {
      async insert(batch) {
        await db.write("process", () => db.run(INSERT, JSON.stringify(batch.map(toColumns))));
      },
      async list(query) {
        const asked = toConditions(query);
        const where = asked.length === 0 ? "" : `where ${asked.map(([sql]) => sql).join(" and ")}`;
        const values = asked.flatMap(([, ...of]) => of);
        const sql = `select * from audit ${where} order by id desc limit ?`;
        return db.all(sql, ...values, query.limit).map(toEntry);
      },
      async prune(beforeMs) {
        const sql = `delete from audit where id in
          (select id from audit where at_ms < ? order by at_ms limit ${PRUNED})`;
        return (await db.write("process", () => db.run(sql, beforeMs))) === PRUNED;
      },
    },
    clock,
  );
}

type Condition = readonly [sql: string, ...values: SqliteValue[]];

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

function toEntry(row: SqliteRow): StoredAuditEntry {
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
