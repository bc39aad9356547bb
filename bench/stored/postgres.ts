/**
 * A Postgres of its own for each server of the bench, with the waits for its disk counted and slowed by `slow-sync.c`,
 * which is compiled here: it needs a C compiler. The database shares its core with the upstream and the load, so that
 * the servers are measured alone on theirs.
 */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import {
  POSTGRES_LACK,
  type PostgresServer,
  startPostgres,
} from "../../test/store/postgres/postgres-server.ts";
import { childrenOf, cpuMs } from "../gateway/processes.ts";
import type { DatabaseUse, OpenStore, StoreOptions } from "./stores.ts";

/** Sources are not copied to the folder of the compiled bench. */
const SOURCE = fileURLToPath(new URL("../../../bench/stored/slow-sync.c", import.meta.url));
/** As in production, for the memory of a small machine. */
const SETTINGS = ["shared_buffers=256MB", "max_wal_size=4GB", "checkpoint_timeout=15min"];
const CORE = 1;
const TICKS_MS = 10;

/** Why Postgres cannot be measured; undefined if it can. */
export const POSTGRES_BENCH_LACK =
  POSTGRES_LACK ?? (spawnSync("cc", ["--version"]).status === 0 ? undefined : "there is no `cc`");

export async function openPostgresStore({ syncMs }: StoreOptions): Promise<OpenStore> {
  const disk = makeDisk();
  const slow: Record<string, string> = syncMs > 0 ? { BENCH_SYNC_MS: String(syncMs) } : {};
  const server = await startPostgres({
    durable: true,
    settings: SETTINGS,
    env: { LD_PRELOAD: disk.library, BENCH_SYNCS: disk.syncs, ...slow },
  });
  spawnSync("taskset", ["-a", "-pc", String(CORE), String(server.pid)]);
  const address = await server.newAddress();
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  return {
    env: { OFFSHOOT_STORE: address },
    execArgv: [],
    syncs: () => statSync(disk.syncs).size,
    sizeOf: async () => (await readCounts(client)).bytes,
    compact: async () => void (await client.query("vacuum full")),
    readUse: async () => ({ ...(await readCounts(client)), cpuMs: cpuOf(server) }),
    async close() {
      await client.end();
      await server[Symbol.asyncDispose]();
      rmSync(disk.folder, { recursive: true, force: true });
    },
  };
}

interface Disk {
  readonly folder: string;
  readonly library: string;
  readonly syncs: string;
}

/** Readable and writable for the user that runs Postgres. */
function makeDisk(): Disk {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-bench-disk-"));
  const library = join(folder, "slow-sync.so");
  const syncs = join(folder, "syncs");
  const { status, stderr } = spawnSync(
    "cc",
    ["-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`\`cc\` could not compile ${SOURCE}: ${stderr}`);
  writeFileSync(syncs, "");
  chmodSync(folder, 0o755);
  chmodSync(syncs, 0o666);
  return { folder, library, syncs };
}

async function readCounts(client: pg.Client): Promise<Omit<DatabaseUse, "cpuMs">> {
  const { rows } = await client.query<Record<string, string>>(
    `select xact_commit + xact_rollback as transactions,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal, pg_database_size(datname) as bytes,
      (select count(*) from pg_stat_activity where application_name = 'offshoot') as connections
    from pg_stat_database where datname = current_database()`,
  );
  const [row = {}] = rows;
  return {
    transactions: Number(row["transactions"]),
    walBytes: Number(row["wal"]),
    bytes: Number(row["bytes"]),
    connections: Number(row["connections"]),
  };
}

/** The CPU of all its processes, also of those that have ended: the first process has waited for them. */
function cpuOf({ pid }: PostgresServer): number {
  if (pid === undefined) throw new Error("The server is not the bench's own.");
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ended = (Number(fields[13]) + Number(fields[14])) * TICKS_MS;
  return [{ pid }, ...childrenOf({ pid })].reduce((sum, one) => sum + cpuMs(one), ended);
}
