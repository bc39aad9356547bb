/**
 * The table `audit`. Waiting entries are written in one insert; `createBufferedAudit` has the
 * rules.
 */

import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Audit, AuditEntry, AuditQuery, StoredAuditEntry } from "../audit.ts";
import { createBufferedAudit } from "../buffered-audit.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import type { PostgresRow, PostgresValue } from "./postgres-driver.ts";

/** How many entries are removed in one transaction. */
const PRUNED = 5000;

/** A batch that is written again, because the answer was lost, is stored once (`bookings`). */
const INSERT = `with booked as (
    insert into offshoot.bookings (id) values ($2) on conflict do nothing returning id)
  insert into offshoot.audit (at_ms, tenant, key_id, action, target, status, address)
  select (entry ->> 0)::bigint, entry ->> 1, entry ->> 2, entry ->> 3, entry ->> 4,
    (entry ->> 5)::int, entry ->> 6
  from json_array_elements($1::json) with ordinality as entries (entry, number), booked
  order by number`;

/** The caller closes the database after this. */
export function createPostgresAudit(db: PostgresDatabase, clock: Clock = systemClock): Audit {
  return createBufferedAudit(
    {
      async insert(batch) {
        const rows = JSON.stringify(batch.map(toColumns));
        const name = randomUUID();
        await db.write(({ run }) => run(INSERT, rows, name));
      },
      async list(query) {
        const values: PostgresValue[] = [];
        const where = toConditions(query, (value) => `$${values.push(value)}`);
        const limit = `$${values.push(query.limit)}`;
        const sql = `select * from offshoot.audit where ${where} order by id desc limit ${limit}`;
        return (await db.all(sql, ...values)).map(toEntry);
      },
      async prune(beforeMs) {
        const sql = `delete from offshoot.audit where id in (
          select id from offshoot.audit where at_ms < $1 order by at_ms limit ${PRUNED})`;
        return (await db.write(({ run }) => run(sql, beforeMs))) === PRUNED;
      },
    },
    clock,
  );
}

function toConditions(
  { before, keyId, tenant, time, action, status }: AuditQuery,
  add: (value: PostgresValue) => string,
): string {
  const terms = ["true"];
  if (before !== undefined) terms.push(`id < ${add(before)}`);
  if (keyId !== undefined) terms.push(`key_id = ${add(toColumn(keyId))}`);
  if (tenant !== undefined) terms.push(`tenant = ${add(toColumn(tenant))}`);
  if (time) terms.push(`at_ms >= ${add(time[0])} and at_ms < ${add(time[1])}`);
  if (action !== undefined) terms.push(`strpos(action, ${add(toColumn(action))}) > 0`);
  if (status) terms.push(`status >= ${add(status[0])} and status < ${add(status[1])}`);
  return terms.join(" and ");
}

function toColumns(entry: AuditEntry): (string | number | null)[] {
  const { at_ms, tenant, key_id, action, target, status, address } = entry;
  const text = [toColumn(tenant), toNullable(key_id), toColumn(action), toNullable(target)];
  return [at_ms, ...text, status, toNullable(address)];
}

function toEntry(row: PostgresRow): StoredAuditEntry {
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
