/** Reads the log of a run from its rows; each has a batch of events. */

import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import { STORED_EVENTS } from "../stored-events.ts";
import { toColumn } from "../text-column.ts";
import type { Reads } from "./postgres-database.ts";
import type { PostgresRow } from "./postgres-driver.ts";
import { readSized } from "./postgres-values.ts";

/** Rows that are read at once; each has up to 256 KB, or names its parts. */
const ROWS_AT_ONCE = 64;
/** A page ends with the batch that reaches this size, so that a page of a very long answer is not all of it. */
const MAX_PAGE_BYTES = 1024 * 1024;

// The batch with the first wanted event starts at or before it; at the end of the log none does.
const SQL = `
  select first_seq, body, body_parts from offshoot.events
  where run_id = $1 and first_seq <= $2 and first_seq + count > $3 and first_seq >= coalesce(
    (select max(first_seq) from offshoot.events where run_id = $1 and first_seq <= $3), 0)
  order by first_seq limit ${ROWS_AT_ONCE}`;

/** Like `Store.readEvents`. */
export async function readEventRows(
  db: Reads,
  id: string,
  after: number,
  limit: number,
): Promise<LoggedEvent[]> {
  const page: LoggedEvent[] = [];
  let wanted = Math.max(after + 1, 0);
  const last = wanted + limit - 1;
  for (let bytes = 0; wanted <= last; ) {
    const rows = await db.all(SQL, toColumn(id), last, wanted);
    for (const row of rows) {
      const read = await readSized(db, id, row, "body");
      // The log was removed in the middle of reading, so it ends here.
      if (!read) return page;
      const batch = toLogged(id, row, STORED_EVENTS.read(read.value));
      page.push(...batch.filter(({ seq }) => seq >= wanted && seq <= last));
      wanted = Number(row["first_seq"]) + batch.length;
      bytes += read.bytes;
      if (bytes >= MAX_PAGE_BYTES) return page;
    }
    if (rows.length < ROWS_AT_ONCE) break;
  }
  return page;
}

function toLogged(run_id: string, row: PostgresRow, events: readonly RunEvent[]): LoggedEvent[] {
  const first = Number(row["first_seq"]);
  return events.map((event, at) => ({ run_id, seq: first + at, event }));
}
