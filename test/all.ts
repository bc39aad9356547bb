/**
 * Runs every unit test, in three processes that take a share of the files each: `node build/test/all.js [PART…]`.
 * With parts of paths, all files that have one of them run in this process.
 *
 * `node --test` starts a process for each file, which on two cores costs more than the tests do.
 * What starts processes, or needs one of its own (signals, exit codes), is an `*.e2e.ts`, run by `node --test`.
 * `--max-semi-space-size`, as the scripts of `package.json` have it, makes collections of young objects rarer: 7% less
 * processor time.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { listFiles } from "./list-files.ts";
import { watchProgress } from "./progress.ts";
import { useQuickFolder } from "./quick-folder.ts";
import { holdRunCode } from "./run-code.ts";

const SHARE = "--share=";
/** One more than the cores of a small machine: tests wait for the disk, a timer or a child a fifth of their time. */
const SHARES = 3;
const CLIENTS = "clients/";
const parts = process.argv.slice(2);
const given = parts.find((part) => part.startsWith(SHARE));
const share = given === undefined ? 0 : Number(given.slice(SHARE.length));
// The shares inherit it.
if (given === undefined) useQuickFolder();
await (parts.length === 0 ? runShares() : runFiles());

/** Reports whole, one after the other, those with a failure last: where only the end of a log is kept, it is there. */
async function runShares(): Promise<void> {
  const shares = await Promise.all(Array.from({ length: SHARES }, (_, number) => runShare(number)));
  shares.sort((one, other) => Number(one.isFailed) - Number(other.isFailed));
  for (const { report, isFailed, ending } of shares) {
    process.stdout.write(report);
    if (!isFailed) continue;
    process.stdout.write(`${ending}\n`);
    process.exitCode = 1;
  }
}

async function runShare(number: number) {
  const argv = [...process.execArgv, fileURLToPath(import.meta.url), `${SHARE}${number}`];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const said: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => said.push(piece));
  const [code, signal] = await once(child, "close").catch((thrown: Error) => [
    null,
    thrown.message,
  ]);
  const ending = `Share ${number} of the unit tests ended with ${signal ?? `exit code ${code}`}.`;
  return { report: Buffer.concat(said), isFailed: code !== 0, ending };
}

async function runFiles(): Promise<void> {
  watchProgress();
  holdRunCode();
  const here = fileURLToPath(new URL(".", import.meta.url));
  const files = listFiles(here, ".test.js").filter(isMine);
  if (files.length === 0) {
    process.stderr.write(`No unit test has ${parts.join(" or ")} in its path.\n`);
    process.exitCode = 1;
  }
  // Open until all files are loaded. Without it, tests that end before the next file is there are taken for all
  // there are: hooks that files have for their end run then, and later tests find their servers closed.
  let onLoaded = (): void => {};
  const loaded = new Promise<void>((resolve) => {
    onLoaded = resolve;
  });
  it("the test files load", () => loaded);
  for (const file of files) {
    // A file that does not load is a failed test, and the others still run.
    const { href } = pathToFileURL(join(here, file));
    await import(href).catch((thrown) => it(file, () => Promise.reject(thrown)));
  }
  onLoaded();
}

function isMine(file: string): boolean {
  if (given === undefined) return isNamed(file);
  return !file.startsWith(CLIENTS) && shareOf(file) === share;
}

/** Tests with clients of other projects need those installed, so they run only when they are named. */
function isNamed(file: string): boolean {
  return parts.some(
    (part) => file.includes(part) && file.startsWith(CLIENTS) === part.startsWith(CLIENTS),
  );
}

/** By its name alone, so that a new file leaves every other one in its share. */
function shareOf(file: string): number {
  return (createHash("sha256").update(file).digest()[0] ?? 0) % SHARES;
}
