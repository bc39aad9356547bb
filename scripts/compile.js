/**
 * `node scripts/compile.js [test/clients]`: compiles sources and tests into `build/`, only what changed since
 * the last time. Compiled files whose source is gone are removed first, so that no deleted test runs.
 */

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
namePackage();

function removeStale(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeStale(path);
    else if (entry.isFile() && !hasSource(path)) rmSync(path);
  }
}

/** Files that the compiler did not write belong to others, and stay. */
function hasSource(path) {
  const source = path.replace(/(\.d\.ts|\.js|\.js\.map)$/, ".ts");
  return source === path || existsSync(join(ROOT, relative(BUILD, source)));
}

/**
 * The examples import `offshoot`, as a program of a user does. In `build/` that is what was compiled, and not what
 * `npm run build` has bundled.
 */
function namePackage() {
  const folder = join(BUILD, "examples/node_modules/offshoot");
  mkdirSync(folder, { recursive: true });
  // Without it the examples would be part of the package `offshoot`, which then means its bundled files.
  writeFileSync(join(BUILD, "examples/package.json"), '{ "type": "module" }\n');
  const entries = { ".": "index", "./protocol": "protocol/index" };
  for (const name of ["server", "testing"]) entries[`./${name}`] = `${name}/index`;
  const exports = {};
  for (const [name, path] of Object.entries(entries)) {
    exports[name] = `./${path.replace("/", "-")}.mjs`;
    writeFileSync(join(folder, exports[name]), `export * from "../../../src/${path}.js";\n`);
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "offshoot", exports }));
}

/** Compiled files look for packages from where they are, which is below `build/`. */
function linkModules(folder) {
  const link = join(BUILD, folder, "node_modules");
  if (existsSync(link)) return;
  mkdirSync(join(BUILD, folder), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(join(ROOT, folder, "node_modules"), link, "junction");
}
