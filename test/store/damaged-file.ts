/** Destroys a page of a record, as a bad disk does. */

import { closeSync, openSync, writeSync } from "node:fs";
import { openConnection } from "../../src/store/sqlite/sqlite-driver.ts";

export const PAGE_BYTES = 4096;

/** Destroys the first page of a table, and leaves the header and the schema as they are. */
export async function damage(path: string, table: string): Promise<void> {
  const connection = await openConnection(path);
  // Otherwise pages in the WAL would be read from there.
  connection.prepare("pragma wal_checkpoint(truncate)").all();
  const sql = "select rootpage from sqlite_schema where name = ?";
  const page = Number(connection.prepare(sql).get(table)?.["rootpage"]);
  connection.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(PAGE_BYTES, 0xab), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  closeSync(file);
}
