/** Makes a folder and the missing folders above it, readable by the user alone. */

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes one folder after the other: below `/proc`, where nothing can be made and the system says that
 * nothing is there, `mkdir` with `recursive` tries for ever (Node.js 20 and 22).
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    if (!isThere(thrown)) throw thrown;
  }
}

/** True if another process has made it meanwhile. */
function isThere(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
}
