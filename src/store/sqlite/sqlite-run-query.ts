/** Which runs a listing asks for, as SQL. */

import type { RunQuery } from "../../protocol/run-record.ts";
import { toUnknownRun } from "../refusal.ts";
import { toColumn, toNullable } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteValue } from "./sqlite-driver.ts";

/** Throws for a run that is not there to list from. */
export function toRunQuery(
  db: SqliteDatabase,
  { limit, status, parent_id, before, without }: RunQuery,
): { readonly sql: string; readonly values: readonly SqliteValue[] } {
  const terms = ["true"];
  const values: SqliteValue[] = [];
  if (status !== undefined) terms.push(`status = '${status === "ended" ? "ended" : "running"}'`);
  if (parent_id !== undefined) {
    // `is` compares with null too, and finds both by the index.
    terms.push("parent_id is ?");
    values.push(toNullable(parent_id));
  }
  if (without !== undefined) {
    terms.push("name is not ?");
    values.push(toColumn(without));
  }
  if (before !== undefined) {
    const at = db.get("select created_at_ms, rowid from runs where id = ?", toColumn(before));
    if (!at) throw toUnknownRun(before);
    terms.push("(created_at_ms, rowid) < (?, ?)");
    values.push(at["created_at_ms"] ?? null, at["rowid"] ?? null);
  }
  const order = "order by created_at_ms desc, rowid desc limit ?";
  const sql = `select * from runs where ${terms.join(" and ")} ${order}`;
  return { sql, values: [...values, limit] };
}
