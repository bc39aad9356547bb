/**
 * The packages of this repository, each with a lock file of its own, installed when something needs them:
 * the root (the product and its build), `tooling` (compiler, checks), `test/clients` (other projects'
 * clients) and `test/postgres` (a server for tests). Nothing outside the clone is changed.
 */

import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readlinkSync, statSync, utimesSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Runs `npm ci` in a package whose dependencies are missing or older than its lock file. If `node_modules` is a link,
 * the packages belong to another clone. They are used as they are, because `npm ci` would empty that clone's folder.
 */
export function ensureInstalled(folder) {
  const lock = join(ROOT, folder, "package-lock.json");
  const modules = join(ROOT, folder, "node_modules");
  const installed = join(modules, ".package-lock.json");
  const isLink = lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const isThere = existsSync(installed);
  if (isThere && (isLink || statSync(lock).mtimeMs <= statSync(installed).mtimeMs)) return;
  if (isLink) {
    const there = `${modules} is a link to ${readlinkSync(modules)}, which has no packages.`;
    console.error(`${there} Install them there, or remove the link.`);
    process.exit(1);
  }
  console.error(`Installing ${folder === "." ? "dependencies" : folder}…`);
  // If NODE_ENV is `production`, npm leaves out what the build needs unless it is told to include it.
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
