/**
 * `npm run test:recordings -- DIR`: what real servers sent and what publishers of the API wrote, which is not
 * part of the project. First the suites over recorded streams; then the tests that hold answers against a
 * description of the API, with the published documents in place of our own description.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { listFiles } from "./list-files.ts";
import { findPublishedUsers } from "./recordings/published-users.ts";

const folder = process.argv[2];
if (folder === undefined || !existsSync(join(folder, "recordings"))) {
  const got = folder === undefined ? "no folder was given" : `${folder}/recordings does not exist`;
  process.stderr.write(
    `Usage: npm run test:recordings -- DIR, with DIR/recordings and DIR/oracles: ${got}.\n`,
  );
  process.exit(2);
}

const here = fileURLToPath(new URL(".", import.meta.url));
const env = { ...process.env, OFFSHOOT_TEST_RECORDINGS: resolve(folder) };

const runs = [
  ["--test", ...list("recordings", ".recordings.js")],
  [join(here, "all.js"), ...findPublishedUsers(".test.js")],
  ["--test", ...list("conformance", ".e2e.js")],
];
for (const args of runs) {
  const argv = ["--enable-source-maps", "--test-reporter=spec", ...args];
  const { status } = spawnSync(process.execPath, argv, { stdio: "inherit", env });
  if (status !== 0) process.exitCode = 1;
}

function list(room: string, ending: string): string[] {
  return listFiles(join(here, room), ending).map((name) => join(here, room, name));
}
