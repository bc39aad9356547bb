/**
 * `node build/test/replicas.js [short | PART...]`: the suites that ask a server over HTTP, with three servers on one Postgres behind
 * a round-robin proxy in place of one. They are the same files; `test/replicated.ts` is where they get their servers.
 * `short` is what `npm test` runs of it; parts of paths choose files of the whole.
 *
 * One Postgres for all of them, which this process starts; each server of a test has a database of its own.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { listFiles } from "./list-files.ts";
import { startPostgres } from "./store/postgres/postgres-server.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Parts of paths, as `test/all.ts` takes them; and files of processes of their own. */
interface Suites {
  readonly unit: readonly string[];
  readonly e2e: readonly RegExp[];
}

const SHORT: Suites = {
  unit: ["server/guard/tenants", "server/responses.test", "attacks/server-guard"],
  e2e: [/^attacks\/server-tenants\.e2e\.js$/],
};

const WHOLE: Suites = {
  unit: ["server/", "attacks/server", "clients/server/"],
  e2e: [
    /^clients\/e2e\/.*\.e2e\.js$/,
    /^conformance\/.*\.e2e\.js$/,
    /^attacks\/server-.*\.e2e\.js$/,
    /^e2e\/(open-responses|server-streams|server-attacks)\.e2e\.js$/,
  ],
};

const [...parts] = process.argv.slice(2);
const isShort = parts[0] === "short";
const suites = isShort ? SHORT : WHOLE;
const isChosen = (file: string): boolean =>
  isShort || parts.length === 0 || parts.some((part) => file.includes(part));
// Some tests have dozens of servers at once, and each of the three has up to nine connections.
const postgres = await startPostgres({ settings: ["max_connections=1000"] });
const env = {
  ...process.env,
  OFFSHOOT_TEST_SERVERS: "postgres",
  OFFSHOOT_TEST_POSTGRES: await postgres.newAddress(),
};
try {
  const node = ["--enable-source-maps", "--test-reporter=spec"];
  const unit = listFiles(HERE, ".test.js").filter(
    (file) => suites.unit.some((part) => file.includes(part)) && isChosen(file),
  );
  for (const isClients of [false, true]) {
    const files = unit.filter((file) => file.startsWith("clients/") === isClients);
    if (files.length > 0) await run([...node, `${HERE}all.js`, ...files]);
  }
  const e2e = listFiles(HERE, ".e2e.js").filter(
    (file) => suites.e2e.some((pattern) => pattern.test(file)) && isChosen(file),
  );
  const files = e2e.map((file) => HERE + file);
  if (files.length > 0) await run([...node, "--test", "--test-concurrency=2", ...files]);
} finally {
  await postgres[Symbol.asyncDispose]();
}

async function run(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { env, stdio: "inherit" });
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
}
