/**
 * Which tests hold something against the published descriptions, found by what they import: with a folder of
 * recordings they run a second time, against the documents themselves (see `published/document.ts`).
 */

import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { listFiles } from "../list-files.ts";

const TESTS = fileURLToPath(new URL("../", import.meta.url));
const DESCRIPTION = "published/document.js";

/** Compiled files with this ending, from `build/test/` on, sorted. */
export function findPublishedUsers(ending: ".test.js" | ".e2e.js"): string[] {
  const files = listFiles(TESTS, ".js");
  const imports = new Map(files.map((file) => [file, localImports(file)]));
  const users = new Set([DESCRIPTION]);
  // Each round finds the files that import one that was found; a set may grow while it is read.
  for (const found of users) {
    for (const [file, names] of imports) if (names.includes(found)) users.add(file);
  }
  return [...users].filter((file) => file.endsWith(ending)).sort();
}

function localImports(file: string): string[] {
  const text = readFileSync(`${TESTS}${file}`, "utf8");
  const found = text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, path = ""]) => posix.join(posix.dirname(file), path));
}
