/** The console's files and the tests', as text: the words in them, and the names of tests. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DIALECT } from "./shape.js";

/** The TypeScript files below a folder, without installed packages. Empty if there is no such folder. */
export function readTexts(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : readTexts(path);
    return /\.tsx?$/.test(entry.name) ? [readFileSync(path, "utf8")] : [];
  });
}

/** How often the old words are there, and the number of lines. */
export function countDialect(texts) {
  const count = (pattern) =>
    texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
  return [count(DIALECT), count(/\n/g)];
}

/** The first argument of each `it(…)`, if it is text. */
export function readNames(texts) {
  return texts.flatMap((text) =>
    [...text.matchAll(/\bit\(\s*(["`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(([, , name]) => name),
  );
}
