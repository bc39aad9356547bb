/**
 * Runs every test file in this one process: `node build/test/all.js [part of a path]`.
 *
 * `node --test` starts a process for each file, which on two cores costs more than the tests do.
 * What needs a process of its own (signals, exit codes) is an `*.e2e.ts`, run by `node --test`.
 */
import { readdirSync } from "node:fs";
import { it } from "node:test";

const LIMIT_MS = 120_000;
setTimeout(() => process.exit(1), LIMIT_MS).unref();

const only = process.argv[2] ?? "";
const here = new URL(".", import.meta.url);
for (const file of readdirSync(here, { recursive: true, encoding: "utf8" }).sort()) {
  if (!file.endsWith(".test.js") || !file.includes(only)) continue;
  // A file that does not load is a failed test, and the others still run.
  await import(new URL(file, here).href).catch((thrown) => it(file, () => Promise.reject(thrown)));
}
