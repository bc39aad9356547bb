/**
 * What the engines cost for the same runs: SQLite with our engine, Postgres with our engine, and the same Postgres
 * with DBOS. Each engine is a process of its own; they take turns. Ratios are those to our engine on Postgres.
 *
 *     npm run bench:engines [-- --rounds=5] [-- --quick]
 *
 * `--quick` does a tenth of the work, to check that it works. The Postgres server is the one of the tests, with waits
 * for the disk as in production. Linux, some minutes.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKept } from "../src/store/open-kept.ts";
import { startPostgres } from "../test/store/postgres/postgres-server.ts";
import { readServerCost, type ServerCost, subtract } from "./engines/server-cost.ts";
import type { Order, Told } from "./engines/worker.ts";
import { median } from "./measure.ts";

interface Load {
  readonly name: string;
  readonly body: string;
  readonly count: number;
  readonly atOnce: number;
}

const LOADS: readonly Load[] = [
  { name: "response, one at a time", body: "response", count: 200, atOnce: 1 },
  { name: "response, 32 at once", body: "response", count: 640, atOnce: 32 },
  { name: "tree of 13, one at a time", body: "node", count: 20, atOnce: 1 },
  { name: "tree of 13, 8 at once", body: "node", count: 80, atOnce: 8 },
];
const BASELINE = "own on Postgres";
/** How long an engine without work is measured. */
const IDLE_MS = 20_000 / part();

interface Contender {
  readonly name: string;
  readonly kind: string;
  readonly address: string;
}

/** For each run of a load; times in milliseconds. */
interface Cost {
  readonly latency: number;
  readonly late: number;
  readonly nodeCpu: number;
  readonly serverCpu: number;
  readonly transactions: number;
  readonly walBytes: number;
}

const WORKER = fileURLToPath(new URL("./engines/worker.js", import.meta.url));
const rounds = Number(/--rounds=(\d+)/.exec(process.argv.join(" "))?.[1] ?? 5);

const folder = mkdtempSync(join(tmpdir(), "offshoot-engines-"));
const server = await startPostgres({ durable: true });
try {
  await bench();
} finally {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}

async function bench(): Promise<void> {
  const contenders: readonly Contender[] = [
    { name: "own on SQLite", kind: "own", address: join(folder, "runs.db") },
    { name: BASELINE, kind: "own", address: await server.newAddress() },
    { name: "DBOS on Postgres", kind: "dbos", address: await server.newAddress() },
  ];
  for (const contender of contenders) await prepare(contender);
  for (const { count, ...load } of LOADS) {
    await measureLoad({ ...load, count: count / part() }, contenders);
  }
  for (const contender of contenders.slice(1)) await measureIdle(contender);
  for (const contender of contenders) await measureTakeover(contender);
}

function part(): number {
  return process.argv.includes("--quick") ? 10 : 1;
}

async function prepare({ kind, address }: Contender): Promise<void> {
  const kept = await openKept(address);
  await kept.runs();
  await kept.close();
  if (kind !== "dbos") return;
  const { setUpDbos } = await import("../src/engine/dbos/set-up-dbos.ts");
  await setUpDbos(address);
}

async function measureLoad(load: Load, contenders: readonly Contender[]): Promise<void> {
  const workers = new Map<string, ChildProcess>();
  const costs = new Map<string, Cost[]>(contenders.map(({ name }) => [name, []]));
  for (const { name, kind, address } of contenders) workers.set(name, await start(kind, address));
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const { name, address } of contenders) {
      const worker = workers.get(name);
      if (!worker) continue;
      const cost = await measureOnce(load, worker, isServed(name) ? address : undefined);
      if (round > 0) costs.get(name)?.push(cost);
    }
  }
  for (const worker of workers.values()) await stop(worker);
  print(load, costs);
}

function isServed(name: string): boolean {
  return name.endsWith("Postgres");
}

async function measureOnce(
  { body, count, atOnce }: Load,
  worker: ChildProcess,
  address: string | undefined,
): Promise<Cost> {
  const before = address === undefined ? undefined : await readServerCost(server, address);
  const { latencies = [], cpuMs = 0 } = await ask(worker, { do: "run", body, count, atOnce });
  const used: ServerCost =
    before === undefined || address === undefined
      ? { cpuMs: 0, transactions: 0, walBytes: 0 }
      : subtract(await readServerCost(server, address), before);
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    latency: median(latencies),
    late: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN,
    nodeCpu: cpuMs / count,
    serverCpu: used.cpuMs / count,
    transactions: used.transactions / count,
    walBytes: used.walBytes / count,
  };
}

function print({ name }: Load, costs: ReadonlyMap<string, readonly Cost[]>): void {
  console.log(`\n${name}`);
  const of = (all: readonly Cost[] | undefined, key: keyof Cost): number =>
    median((all ?? []).map((cost) => cost[key]));
  const base = costs.get(BASELINE);
  const keys = ["latency", "late", "nodeCpu", "serverCpu", "transactions", "walBytes"] as const;
  for (const [contender, all] of costs) {
    const cells = keys.map((key) => {
      // Of the two costs of each round: runs close in time met the same load.
      const ratios = all.map((cost, round) => cost[key] / (base?.[round]?.[key] ?? Number.NaN));
      return `${key} ${of(all, key).toFixed(2)} (${median(ratios).toFixed(2)})`;
    });
    console.log(`  ${contender.padEnd(18)} ${cells.join("  ")}`);
  }
}

/** What an idle process costs, once it has run something. */
async function measureIdle({ name, kind, address }: Contender): Promise<void> {
  const worker = await start(kind, address);
  await ask(worker, { do: "run", body: "response", count: 1, atOnce: 1 });
  const before = await readServerCost(server, address);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const { cpuMs, transactions } = subtract(await readServerCost(server, address), before);
  const share = (cpuMs / IDLE_MS) * 100;
  console.log(
    `\nidle ${name}: server ${share.toFixed(2)}% of a core, ${transactions} transactions`,
  );
  await stop(worker);
}

/** From the kill of a process in the middle of a step to the same step in another process. */
async function measureTakeover({ name, kind, address }: Contender): Promise<void> {
  const heir = await start(kind, address);
  await ask(heir, { do: "run", body: "response", count: 1, atOnce: 1 });
  heir.send({ do: "sweep" } satisfies Order);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const victim = await start(kind, address);
    await ask(victim, { do: "hang" });
    const taken = once(heir, "message") as Promise<[Told]>;
    const exited = once(victim, "exit");
    const killedAt = Number(process.hrtime.bigint()) / 1e6;
    victim.kill("SIGKILL");
    const [{ takenAt = Number.NaN }] = await taken;
    times.push(takenAt - killedAt);
    await exited;
  }
  console.log(`takeover ${name}: ${median(times).toFixed(0)} ms (median of ${rounds})`);
  await stop(heir);
}

async function start(kind: string, address: string): Promise<ChildProcess> {
  const worker = fork(WORKER, [kind, address], {
    execArgv: ["--enable-source-maps"],
    env: { PATH: process.env["PATH"], NODE_ENV: "production" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  await told(worker);
  return worker;
}

async function stop(worker: ChildProcess): Promise<void> {
  const exited = once(worker, "exit");
  worker.disconnect();
  await exited;
}

async function ask(worker: ChildProcess, order: Order): Promise<Told> {
  const answer = told(worker);
  worker.send(order);
  return await answer;
}

async function told(worker: ChildProcess): Promise<Told> {
  const [answer] = (await Promise.race([
    once(worker, "message"),
    once(worker, "exit").then(() => Promise.reject(new Error("A process of the bench ended."))),
  ])) as [Told];
  return answer;
}
