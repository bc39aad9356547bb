/** Finds files of tests. */

import { readdirSync } from "node:fs";
import { join, posix } from "node:path";

/**
 * The files below a folder that end so, as paths from it with `/`, sorted. Installed packages are left out, and
 * links are not followed: one leads to the packages of `test/clients`, which have tests of their own.
 */
export function listFiles(folder: string, ending: string, below = ""): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = posix.join(below, entry.name);
      if (entry.name === "node_modules") return [];
      if (entry.isDirectory()) return listFiles(folder, ending, path);
      return entry.name.endsWith(ending) ? [path] : [];
    })
    .sort();
}
