/**
 * `node scripts/compile.js [test/clients]`: compiles sources and tests into `build/`, only what changed since
 * the last time. Compiled files whose source is gone are removed first, so that no deleted test runs.
 */

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { ensureInstalled, ROOT, runProgram } from "./packages.js";

const CLIENTS = "test/clients";
const BUILD = join(ROOT, "build");

const project = process.argv[2] ?? ".";
ensureInstalled(".");
removeStale(BUILD);
if (project === CLIENTS) {
  ensureInstalled(CLIENTS);
  linkModules(CLIENTS);
}
runProgram("tooling", "tsc", ["-p", project]);

function removeStale(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeStale(path);
    else if (entry.isFile() && !hasSource(path)) rmSync(path);
  }
}

/** Other files than the compiler's are somebody else's, and stay. */
function hasSource(path) {
  const source = path.replace(/(\.d\.ts|\.js|\.js\.map)$/, ".ts");
  return source === path || existsSync(join(ROOT, relative(BUILD, source)));
}

/** Compiled files look for packages from where they are, which is below `build/`. */
function linkModules(folder) {
  const link = join(BUILD, folder, "node_modules");
  if (existsSync(link)) return;
  mkdirSync(join(BUILD, folder), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(join(ROOT, folder, "node_modules"), link, "junction");
}
