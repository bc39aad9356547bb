/**
 * A file for each test that needs one, in a directory that is removed when the tests have ended.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../src/base/failure.ts";
import type { SqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";

const directory = mkdtempSync(join(tmpdir(), "offshoot-database-"));
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));

let files = 0;

export function newDatabasePath(): string {
  return join(directory, `${files++}.db`);
}

/** A database whose disk fails while `fails` returns true: what was committed is there, and its writer is told otherwise. */
export function withFailingDisk(db: SqliteDatabase, fails: () => boolean): SqliteDatabase {
  return {
    ...db,
    async write(durability, work) {
      const done = await db.write(durability, work);
      if (durability === "power" && fails()) {
        throw new Failure("store_failed", "The disk failed: EMFILE, too many open files");
      }
      return done;
    },
  };
}

/** Changes a file to the form before large values were kept in parts. */
export function dropParts(db: SqliteDatabase): void {
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
