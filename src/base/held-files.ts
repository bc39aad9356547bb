/**
 * Files that SQLite has locked in this process. Nothing else here may open them, not even to read: closing
 * any descriptor of a file drops all locks that the process has on it.
 */

import { realpathSync } from "node:fs";

const held = new Set<string>();

/** Adds a database file, and the two that SQLite keeps beside it, for the life of the process. */
export function holdDatabaseFile(path: string): void {
  const real = realpathSync(path);
  for (const suffix of ["", "-wal", "-shm"]) held.add(`${real}${suffix}`);
}

/** True for such a file. `place` is a real path: one without links. */
export function isHeldFile(place: string): boolean {
  return held.has(place);
}
