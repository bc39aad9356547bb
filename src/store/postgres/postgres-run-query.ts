/** Which runs a listing asks for, as SQL. */

import type { RunQuery } from "../../protocol/run-record.ts";
import { toUnknownRun } from "../refusal.ts";
import { toColumn, toNullable } from "../text-column.ts";
import type { Reads } from "./postgres-database.ts";
import type { PostgresValue } from "./postgres-driver.ts";

/** Rejects if the run to list from does not exist. */
export async function toRunQuery(
  db: Reads,
  { limit, status, parent_id, before, without }: RunQuery,
): Promise<{ readonly sql: string; readonly values: readonly PostgresValue[] }> {
  const terms = ["true"];
  const values: PostgresValue[] = [];
  const add = (value: PostgresValue): string => `$${values.push(value)}`;
  if (status !== undefined) terms.push(`status = '${status === "ended" ? "ended" : "running"}'`);
  // `is not distinct from` would not use the index.
  if (parent_id === null) terms.push("parent_id is null");
  else if (parent_id !== undefined) terms.push(`parent_id = ${add(toNullable(parent_id))}`);
  if (without !== undefined) terms.push(`name <> ${add(toColumn(without))}`);
  if (before !== undefined) {
    const sql = "select created_at_ms, number from offshoot.runs where id = $1";
    const at = await db.get(sql, toColumn(before));
    if (!at) throw toUnknownRun(before);
    const place = [Number(at["created_at_ms"]), Number(at["number"])].map(add);
    terms.push(`(created_at_ms, number) < (${place.join(", ")})`);
  }
  const order = `order by created_at_ms desc, number desc limit ${add(limit)}`;
  return { sql: `select * from offshoot.runs where ${terms.join(" and ")} ${order}`, values };
}
