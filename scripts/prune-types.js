/**
 * After the compiler has written the types of every source file into `dist/`: keeps those that the package's entries
 * reach. They must not name a package that users do not have.
 */

import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ROOT } from "./packages.js";

const DIST = join(ROOT, "dist");
const { dependencies, exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const allowed = new Set([...Object.keys(dependencies), "node"]);

const reached = new Set();
const todo = Object.values(exports).flatMap(({ types }) => (types ? [resolve(ROOT, types)] : []));
for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
  if (reached.has(file)) continue;
  reached.add(file);
  for (const target of importsOf(file)) {
    if (target.startsWith(".")) todo.push(toTypes(resolve(dirname(file), target)));
    else if (!allowed.has(packageOf(target)))
      fail(`${file} names \`${target}\`, which is not a dependency of the package.`);
  }
}
prune(DIST);

function importsOf(file) {
  if (!existsSync(file)) fail(`${file} is missing.`);
  const found = readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g);
  return [...found].map((match) => match[1]);
}

function toTypes(path) {
  return path.replace(/\.(js|ts)$/, ".d.ts");
}

function packageOf(name) {
  if (name.startsWith("node:")) return "node";
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}

function prune(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) prune(path);
    else if (path.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
