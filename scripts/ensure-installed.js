/**
 * Before `npm test`: installs the dependencies when they are missing or older than the lock file, and on
 * a machine of ours to set up, the program of the sandbox.
 */

import { spawnSync } from "node:child_process";
import { existsSync, statSync, utimesSync } from "node:fs";

const lock = "package-lock.json";
const installed = "node_modules/.package-lock.json";

if (!existsSync(installed) || statSync(lock).mtimeMs > statSync(installed).mtimeMs) {
  console.error("Installing dependencies…");
  run("npm", ["ci", "--no-audit", "--no-fund"]);
  utimesSync(installed, new Date(), new Date());
}

// The superuser of a Debian has no other way to the tests of the sandbox; anybody else is told by them.
const isSuperuser = process.platform === "linux" && process.getuid?.() === 0;
if (isSuperuser && !exists("bwrap") && exists("apt-get")) {
  console.error("Installing bubblewrap…");
  spawnSync("apt-get", ["update", "-qq"], { stdio: "inherit" });
  spawnSync("apt-get", ["install", "-y", "-qq", "bubblewrap"], { stdio: "inherit" });
}

function exists(program) {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
}

function run(program, args) {
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
