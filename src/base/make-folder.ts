/** Makes a folder and those above it that are missing, for the user alone. */

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Step by step: below `/proc`, where nothing can be made and the system says that nothing is there,
 * `mkdir` with `recursive` tries for ever (Node.js 20 and 22).
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

/** Made by another process meanwhile. */
function isThere(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
}
