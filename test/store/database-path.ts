/** A file for each test that wants one, in a directory that goes when the tests have ended. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../../src/store/sqlite/sqlite-database.ts";

const directory = mkdtempSync(join(tmpdir(), "offshoot-database-"));
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));

let files = 0;

export function newDatabasePath(): string {
  return join(directory, `${files++}.db`);
}

/** Makes a file as it was before large values were kept in parts. */
export function dropParts(db: Database): void {
  db.run("drop trigger facts_over");
  for (const table of ["run_facts", "spans", "usage", "questions"]) db.run(`drop table ${table}`);
  db.run("alter table runs drop column journal");
  const counting = db.all("select name, sql from sqlite_schema where name glob 'things_*counted'");
  for (const { name } of counting) db.run(`drop trigger ${name}`);
  for (const name of ["removed", "replaced"]) db.run(`drop trigger thing_parts_${name}`);
  for (const column of ["parts", "parts_bytes"]) db.run(`alter table things drop column ${column}`);
  // Nothing is put before the next start, which replaces them.
  for (const { name } of counting) {
    db.run(`create trigger ${name} after insert on things begin select 1; end`);
  }
  db.run("drop view run_events");
  db.run("drop trigger parts_removed");
  db.run("alter table blobs drop column parts");
  for (const table of ["parts", "drafts"]) db.run(`drop table ${table}`);
  db.run(`create view run_events as
    select e.run_id, e.first_seq + j.key as seq, j.value ->> 'type' as type, j.value as event
    from events e
    left join blobs b on b.run_id = e.run_id and b.sha256 = e.body_blob
    join json_each(coalesce(e.body, b.body)) j`);
}
