/** Finds the programs of this installation that run in processes or threads of their own. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Failure } from "./failure.ts";

/**
 * Where each program is, relative to this code: beside it in the bundled command, in `bin/` for the bundled
 * library (`dist/` or `dist/lib/`), and where the compiler put it in a build for tests.
 */
const PLACES = {
  cli: ["./cli.js", "./bin/cli.js", "../bin/cli.js", "../cli/bin.js"],
  "python-worker": [
    "./python-worker.js",
    "./bin/python-worker.js",
    "../bin/python-worker.js",
    "../tools/python/worker.js",
  ],
  "schema-worker": [
    "./schema-worker.js",
    "./bin/schema-worker.js",
    "../bin/schema-worker.js",
    "../agent/schema-worker.js",
  ],
  "check-worker": [
    "./check-worker.js",
    "./bin/check-worker.js",
    "../bin/check-worker.js",
    "../store/sqlite/check-worker.js",
  ],
  "page-worker": [
    "./page-worker.js",
    "./bin/page-worker.js",
    "../bin/page-worker.js",
    "../tools/web/content/page-worker.js",
  ],
} as const;

export type OwnProgram = keyof typeof PLACES;

export function findOwnProgram(name: OwnProgram): string {
  const files = PLACES[name].map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((path) => existsSync(path));
  if (file !== undefined) return file;
  const message = `This installation is incomplete: ${name}.js is missing. Install Offshoot again.`;
  throw new Failure("internal", message);
}
