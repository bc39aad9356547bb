/** Takes the steps of `tables.ts` that a file lacks. `user_version` of the file counts the steps taken. */

import { Failure } from "../../base/failure.ts";
import type { SqliteConnection } from "./sqlite-driver.ts";
import { MIGRATIONS } from "./tables.ts";

/** Marks a file as ours: "Offs" in ASCII. */
const APPLICATION_ID = 0x4f666673;

/** Brings the tables up to date. Safe when several processes open a new file at once. */
export function migrate(connection: SqliteConnection, migrations = MIGRATIONS): void {
  if (readVersion(connection, migrations.length) === migrations.length) return;
  connection.exec("begin immediate");
  try {
    // Read again under the lock: another process may have done the work meanwhile.
    const version = readVersion(connection, migrations.length);
    for (const step of migrations.slice(version)) {
      if (typeof step === "string") connection.exec(step);
      else step(connection);
    }
    connection.exec(`pragma application_id = ${APPLICATION_ID}`);
    connection.exec(`pragma user_version = ${migrations.length}`);
    connection.exec("commit");
  } catch (thrown) {
    connection.exec("rollback");
    throw thrown;
  }
}

/** Rejects a file of another program, or of a newer version, before anything of it is changed. */
export function refuseForeign(connection: SqliteConnection): void {
  readVersion(connection, MIGRATIONS.length);
}

function readVersion(connection: SqliteConnection, latest: number): number {
  const version = readPragma(connection, "user_version");
  const tables = connection.prepare("select count(*) as count from sqlite_schema").get();
  const isOurs = readPragma(connection, "application_id") === APPLICATION_ID;
  if (!isOurs && (version > 0 || Number(tables?.["count"]) > 0)) {
    throw new Failure("invalid_request", "it is a database of another program");
  }
  if (version <= latest) return version;
  const message = `it was written by a newer Offshoot (tables version ${version}, this one knows ${latest}): update Offshoot`;
  throw new Failure("invalid_request", message);
}

function readPragma(connection: SqliteConnection, name: string): number {
  return Number(connection.prepare(`pragma ${name}`).get()?.[name]);
}
