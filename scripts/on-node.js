/**
 * `node scripts/on-node.js VERSION PROGRAM ARGS…`: runs a program with another Node.js first in its PATH. The
 * binary comes from the npm registry and is kept in `build/nodes/`; nothing is installed on the system.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT, run } from "./packages.js";

const [version = "", program = "", ...args] = process.argv.slice(2);
const platform = process.platform === "win32" ? "win" : process.platform;
const name = `node-${platform}-${process.arch}`;
const folder = join(ROOT, "build", "nodes", version);
const bin = join(folder, "node_modules", name, "bin");

if (!existsSync(bin)) {
  mkdirSync(folder, { recursive: true });
  // With a package of its own there, npm does not look for one in a parent folder.
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const install = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  run("npm", [...install, `${name}@${version}`], { cwd: folder });
}
const path = `${bin}${delimiter}${process.env["PATH"] ?? ""}`;
run(program, args, { cwd: ROOT, env: { ...process.env, PATH: path } });
