/**
 * Files on which SQLite has locks in this process. Nothing else here may open them, not even to read:
 * closing any descriptor of a file drops all locks that the process has on it.
 */

import { realpathSync } from "node:fs";

const held = new Set<string>();

/** Names a database file, with the two that SQLite keeps beside it. For as long as the process lives. */
export function holdDatabaseFile(path: string): void {
  const real = realpathSync(path);
  for (const suffix of ["", "-wal", "-shm"]) held.add(`${real}${suffix}`);
}

/** Of a real path: one without links. */
export function isHeldFile(place: string): boolean {
  return held.has(place);
}
