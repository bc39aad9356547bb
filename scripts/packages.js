/**
 * The packages of this repository, each with a lock file of its own, installed when something needs them:
 * the root (the product and its build), `tooling` (compiler, checks), `test/clients` (other projects'
 * clients) and `test/postgres` (a server for tests). Nothing outside the clone is changed.
 */

import { spawnSync } from "node:child_process";
import { existsSync, statSync, utimesSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Runs `npm ci` in a package whose dependencies are missing or older than its lock file. */
export function ensureInstalled(folder) {
  const lock = join(ROOT, folder, "package-lock.json");
  const installed = join(ROOT, folder, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(lock).mtimeMs <= statSync(installed).mtimeMs) return;
  console.error(`Installing ${folder === "." ? "dependencies" : folder}…`);
  // Where NODE_ENV is `production`, npm leaves out what the build needs unless it is told.
  run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: join(ROOT, folder),
  });
  utimesSync(installed, new Date(), new Date());
}

/** Runs a program of an installed package in the root. Ends this process when it does not exit with 0. */
export function runProgram(folder, program, args) {
  ensureInstalled(folder);
  const programs = resolve(ROOT, folder, "node_modules", ".bin");
  const path = `${programs}${delimiter}${process.env["PATH"] ?? ""}`;
  run(program, args, { cwd: ROOT, env: { ...process.env, PATH: path } });
}

export function run(program, args, options = {}) {
  const shell = process.platform === "win32";
  const { status, signal, error } = spawnSync(program, args, {
    stdio: "inherit",
    shell,
    ...options,
  });
  if (status === 0) return;
  if (error || signal) console.error(`\`${program}\` ended with ${error?.message ?? signal}.`);
  process.exit(status ?? 1);
}
