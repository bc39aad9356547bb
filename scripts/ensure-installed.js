/** Before `npm test`: installs the dependencies when they are missing or older than the lock file. */

import { spawnSync } from "node:child_process";
import { existsSync, statSync, utimesSync } from "node:fs";

const lock = "package-lock.json";
const installed = "node_modules/.package-lock.json";

if (!existsSync(installed) || statSync(lock).mtimeMs > statSync(installed).mtimeMs) {
  console.error("Installing dependencies…");
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  utimesSync(installed, new Date(), new Date());
}
