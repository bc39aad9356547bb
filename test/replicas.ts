/**
 * `node build/test/replicas.js [short]`: the suites that ask a server over HTTP, with three servers on one Postgres behind
 * a round-robin proxy in place of one. They are the same files; `test/replicated.ts` is where they get their servers.
 * `short` is what `npm test` runs of it.
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

const suites = process.argv[2] === "short" ? SHORT : WHOLE;
const postgres = await startPostgres();
const env = {
  ...process.env,
  OFFSHOOT_TEST_SERVERS: "postgres",
  OFFSHOOT_TEST_POSTGRES: await postgres.newAddress(),
};
try {
  const node = ["--enable-source-maps"];
  const all = `${HERE}all.js`;
  for (const unit of [
    suites.unit.filter((part) => !part.startsWith("clients/")),
    ["clients/server/"],
  ]) {
    if (suites.unit.some((part) => unit.includes(part))) await run([...node, all, ...unit]);
  }
  const files = listFiles(HERE, ".e2e.js").filter((file) =>
    suites.e2e.some((pattern) => pattern.test(file)),
  );
  await run([...node, "--test", "--test-concurrency=2", ...files.map((file) => HERE + file)]);
} finally {
  await postgres[Symbol.asyncDispose]();
}

async function run(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { env, stdio: "inherit" });
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
}
