/**
 * Runs every test file, half of them in this process and half in another:
 * `node build/test/all.js [part of a path]`. With a part of a path all that fit run in this process.
 *
 * `node --test` starts a process for each file, which on two cores costs more than the tests do.
 * What needs a process of its own (signals, exit codes) is an `*.e2e.ts`, run by `node --test`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const LIMIT_MS = 120_000;
setTimeout(() => process.exit(1), LIMIT_MS).unref();

const HALF = "--other-half";
const only = process.argv[2] ?? "";
if (only === "") void runOtherHalf();

const here = new URL(".", import.meta.url);
const files = readdirSync(here, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.js"))
  .sort();
for (const [at, file] of files.entries()) {
  if (!isMine(file, at)) continue;
  // A file that does not load is a failed test, and the others still run.
  await import(new URL(file, here).href).catch((thrown) => it(file, () => Promise.reject(thrown)));
}

function isMine(file: string, at: number): boolean {
  if (only === "") return at % 2 === 0;
  return only === HALF ? at % 2 === 1 : file.includes(only);
}

/** Its report comes behind this one's, so that neither is torn; its failure is the failure of both. */
async function runOtherHalf(): Promise<void> {
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), HALF];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const said: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => said.push(piece));
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) process.exitCode = 1;
  process.stdout.write(Buffer.concat(said));
}
