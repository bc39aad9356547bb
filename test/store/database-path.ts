/** A file for each test that wants one, in a directory that goes when the tests have ended. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directory = mkdtempSync(join(tmpdir(), "offshoot-database-"));
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));

let files = 0;

export function newDatabasePath(): string {
  return join(directory, `${files++}.db`);
}
