/**
 * What a response and a token cost, for `docs/scaling.md` and `bench/scale-model`: CPU of the server and of the
 * database, transactions, bytes that are kept, bytes of the database's log, connections, memory.
 *
 * With `--json=FILE` the points are written to a file, so that the model can be compared with them.
 */

import { writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { runLoad } from "../gateway/load.ts";
import { EVENTS } from "../gateway/upstream.ts";
import { type Bench, type Goal, toBody, toLoad } from "./bench.ts";
import { type Server, startServer } from "./server.ts";
import type { DatabaseUse } from "./stores.ts";

/** One load, and what each response of it cost. */
export interface Point {
  readonly store: string;
  readonly name: string;
  readonly connections: number;
  /** Tokens of each response that come one by one; 0 if the answer comes at once. */
  readonly pacedTokens: number;
  readonly isStreamed: boolean;
  readonly responsesPerSecond: number;
  readonly latencyMs: number;
  readonly serverCpuMs: number;
  readonly databaseCpuMs: number;
  readonly transactions: number;
  readonly syncs: number;
  readonly keptBytes: number;
  readonly walBytes: number;
  readonly connectionsOpen: number;
  /** The whole server's memory at the end of the load. */
  readonly memoryBytes: number;
}

interface LoadRow {
  readonly name: string;
  readonly connections: number;
  readonly requests: number;
  readonly isStreamed: boolean;
  /** Milliseconds between two tokens. */
  readonly paceMs?: number;
  readonly isQuick: boolean;
}

const ROWS: readonly LoadRow[] = [
  { name: "plain", connections: 32, requests: 1500, isStreamed: false, isQuick: true },
  { name: "streamed at once", connections: 32, requests: 600, isStreamed: true, isQuick: true },
  { name: "paced", connections: 1, requests: 2, isStreamed: true, paceMs: 20, isQuick: false },
  { name: "paced", connections: 32, requests: 64, isStreamed: true, paceMs: 20, isQuick: true },
  { name: "paced", connections: 256, requests: 256, isStreamed: true, paceMs: 160, isQuick: false },
];

/** Postgres reports the work of an idle connection after ten seconds. */
const TOLD_AFTER_MS = 11_000;

export async function measureSizing({ store, upstream, isFull }: Bench): Promise<Goal[]> {
  const server = await startServer({ store, upstreamPort: upstream.port, workers: 1, core: 0 });
  const points: Point[] = [];
  try {
    const idle = server.memory();
    await warmUp(server);
    for (const row of ROWS.filter(({ isQuick }) => isFull || isQuick)) {
      const point = await measurePoint(server, store, row);
      points.push(point);
      print(point);
    }
    console.log(`${store}, memory of the idle server: ${toMegabytes(idle)} MB\n`);
  } finally {
    await server.close();
  }
  keep(points);
  return [];
}

/** V8 is still compiling, and Postgres writes whole pages the first time. */
async function warmUp(server: Server): Promise<void> {
  for (const kind of ["plain", "streamed"] as const) {
    await runLoad({ ...toLoad(server, toBody(kind)), connections: 32, requests: 600 });
  }
}

async function measurePoint(server: Server, store: string, row: LoadRow): Promise<Point> {
  const { name, connections, requests, isStreamed, paceMs } = row;
  const more = paceMs === undefined ? {} : { input: `pace:${paceMs}` };
  const body = toBody(isStreamed ? "streamed" : "plain", more);
  await server.compact();
  const before = await readAll(server);
  const { medianMs, tookMs } = await runLoad({ ...toLoad(server, body), connections, requests });
  const cpu = server.cpuMs() - before.cpu;
  const memoryBytes = server.memory();
  const used = await server.readUse();
  const databaseCpu = (used?.cpuMs ?? 0) - (before.use?.cpuMs ?? 0);
  if (before.use) await setTimeout(TOLD_AFTER_MS);
  const after = await readAll(server);
  // What the database will give back by itself later is not kept.
  await server.compact();
  const size = await server.sizeOf();
  const grown = (key: keyof DatabaseUse): number =>
    ((after.use?.[key] ?? 0) - (before.use?.[key] ?? 0)) / requests;
  return {
    store,
    name,
    connections,
    pacedTokens: paceMs === undefined ? 0 : EVENTS,
    isStreamed,
    responsesPerSecond: (requests * 1000) / tookMs,
    latencyMs: medianMs,
    serverCpuMs: cpu / requests,
    databaseCpuMs: databaseCpu / requests,
    transactions: grown("transactions"),
    syncs: (after.syncs - before.syncs) / requests,
    keptBytes: Math.max(0, size - before.size) / requests,
    walBytes: grown("walBytes"),
    connectionsOpen: used?.connections ?? 0,
    memoryBytes,
  };
}

async function readAll(server: Server) {
  const use = await server.readUse();
  return { use, size: await server.sizeOf(), syncs: server.syncs(), cpu: server.cpuMs() };
}

function print(point: Point): void {
  const { store, name, connections, memoryBytes } = point;
  const figures = [
    `${point.serverCpuMs.toFixed(2).padStart(8)} ms of CPU`,
    `${point.databaseCpuMs.toFixed(2).padStart(8)} ms of the database`,
    `${point.transactions.toFixed(1).padStart(7)} transactions`,
    `${point.syncs.toFixed(2).padStart(7)} syncs`,
    `${(point.keptBytes / 1000).toFixed(1).padStart(7)} kB kept`,
    `${(point.walBytes / 1000).toFixed(1).padStart(7)} kB of log`,
    `${String(point.connectionsOpen).padStart(3)} connections`,
    `${toMegabytes(memoryBytes).padStart(5)} MB`,
    `${point.responsesPerSecond.toFixed(1).padStart(6)} a second`,
    `${point.latencyMs.toFixed(1).padStart(7)} ms`,
  ];
  console.log(`${`${store}, ${name}, ${connections}`.padEnd(34)} ${figures.join("  ")}`);
}

function toMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

const all: Point[] = [];

/** Points of several stores are one list. */
function keep(points: readonly Point[]): void {
  all.push(...points);
  const file = process.argv.find((word) => word.startsWith("--json="))?.slice("--json=".length);
  if (file) writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
}
