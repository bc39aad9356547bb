/** The file of a store, as a file: made for the user alone, and known by its path. */

import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { holdDatabaseFile } from "../../base/held-files.ts";
import { makeFolder } from "../../base/make-folder.ts";

/**
 * Makes the file and its directory where they are missing, and keeps tools from opening it. SQLite gives its side files (`-wal`,
 * `-shm`) the mode of the main one.
 *
 * A file that exists is not opened, because closing it would drop the locks of a connection that this
 * process has to it. In one go, so that no connection to a new file can come before its closing.
 */
export function createStoreFile(path: string): void {
  makeFolder(dirname(path));
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (thrown) {
    if (!isExisting(thrown)) throw thrown;
  }
  holdDatabaseFile(path);
}

function isExisting(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
}
