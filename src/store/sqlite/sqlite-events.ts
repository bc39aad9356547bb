/** Reading the log of a run from its rows, which hold a batch of events each. */

import type { LoggedEvent } from "../../protocol/run-events.ts";
import { STORED_EVENTS } from "../stored-events.ts";
import { toColumn } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteRow } from "./sqlite-driver.ts";
import { readSized, unlessGone } from "./sqlite-values.ts";

/** Rows that are read at once; each has up to 256 KB, or names a blob. */
const ROWS_AT_ONCE = 16;
/** A page ends with the batch that reaches it, so that a page of a very long answer is not all of it. */
const MAX_PAGE_BYTES = 1024 * 1024;

// The batch that holds the first wanted event starts at or before it; at the end of the log none does.
const SQL = `
  select first_seq, body, body_blob from events
  where run_id = ?1 and first_seq <= ?2 and first_seq + count > ?3 and first_seq >= coalesce(
    (select max(first_seq) from events where run_id = ?1 and first_seq <= ?3), 0)
  order by first_seq limit ${ROWS_AT_ONCE}`;

/** As `Store.readEvents`. */
export async function readEventRows(
  db: SqliteDatabase,
  id: string,
  after: number,
  limit: number,
): Promise<LoggedEvent[]> {
  const run = toColumn(id);
  const page: LoggedEvent[] = [];
  let wanted = Math.max(after + 1, 0);
  const last = wanted + limit - 1;
  for (let bytes = 0; wanted <= last; ) {
    const rows = db.all(SQL, run, last, wanted);
    for (const row of rows) {
      const batch = await readBatch(db, id, row);
      for (const logged of batch.between(wanted, last)) page.push(logged);
      wanted = batch.next;
      bytes += batch.bytes;
      if (bytes >= MAX_PAGE_BYTES) return page;
    }
    if (rows.length < ROWS_AT_ONCE) break;
  }
  return page;
}

interface Batch {
  between(first: number, last: number): LoggedEvent[];
  /** The number of the event that follows. */
  readonly next: number;
  readonly bytes: number;
}

async function readBatch(db: SqliteDatabase, run_id: string, row: SqliteRow): Promise<Batch> {
  const read = await unlessGone(readSized(db, run_id, row, "body"));
  const start = Number(row["first_seq"]);
  // The log was removed in the middle of reading, so it ends here.
  if (!read) return { between: () => [], next: Number.POSITIVE_INFINITY, bytes: 0 };
  const { value, bytes } = read;
  const events = STORED_EVENTS.read(value);
  return {
    between(first, last) {
      const logged = events.map((event, at) => ({ run_id, seq: start + at, event }));
      return logged.filter(({ seq }) => seq >= first && seq <= last);
    },
    next: start + events.length,
    bytes,
  };
}
