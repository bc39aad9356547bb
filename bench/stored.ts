/**
 * What storing costs: CPU, waits for the disk, bytes and time of stored responses, compared with responses that are
 * not stored and with a pipe of bytes, in the same run. Health checks run throughout.
 *
 *     npm run bench:stored [-- --full] [-- --check] [-- --only=loads,paced,chains,processes,slow-disk,sizing]
 *                          [-- --stores=sqlite,postgres] [-- --json=FILE]
 *
 * With `--peer` paced tokens are also compared with a published gateway that stores nothing, which needs `node
 * scripts/compile.js test/clients` first; otherwise they are compared with the pipe, by the ratio that gateway had to
 * it on another machine. Without `--full` it has one number of connections for each question and short chains: some
 * minutes. The servers have one core; the upstream, the load and the database have the other. Linux; Postgres needs
 * `cc`.
 */

import { CONTENDERS, startPipe } from "./gateway/contenders.ts";
import { startChild } from "./gateway/processes.ts";
import { startUpstream } from "./gateway/upstream.ts";
import { type Bench, type Goal, PEER } from "./stored/bench.ts";
import { measureChains } from "./stored/chains.ts";
import { measureLoads, measurePaced } from "./stored/loads.ts";
import { measureProcesses, measureSlowDisk } from "./stored/machines.ts";
import { POSTGRES_BENCH_LACK } from "./stored/postgres.ts";
import { measureSizing } from "./stored/sizing.ts";
import { STORES } from "./stored/stores.ts";

const PARTS = {
  loads: measureLoads,
  paced: measurePaced,
  chains: measureChains,
  processes: measureProcesses,
  "slow-disk": measureSlowDisk,
  sizing: measureSizing,
} as const;

/** How far a ratio may exceed its goal before `--check` fails: one run differs from the next. */
const SLACK = 0.15;

const [role, port = ""] = process.argv.slice(2);
if (role === "upstream") startUpstream();
else if (role === "pipe") await serve(startPipe);
else if (role === "peer") await serve((at) => CONTENDERS[PEER]?.start(at));
else await measure();

async function serve(start: (upstreamPort: number) => Promise<number> | undefined): Promise<void> {
  process.on("disconnect", () => process.exit());
  process.send?.(await start(Number(port)));
}

/** The stores that can be measured here. */
function findStores(): string[] {
  if (POSTGRES_BENCH_LACK) console.log(`Postgres is not measured: ${POSTGRES_BENCH_LACK}.`);
  return Object.keys(STORES).filter((name) => name !== "postgres" || !POSTGRES_BENCH_LACK);
}

async function measure(): Promise<void> {
  const flag = (name: string): string | undefined =>
    process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  const only = flag("only")?.split(",");
  const stores = flag("stores")?.split(",") ?? findStores();
  const isFull = process.argv.includes("--full");
  const upstream = await startChild(import.meta.url, ["upstream"], 1);
  const at = String(upstream.port);
  const pipe = await startChild(import.meta.url, ["pipe", at], 0);
  const hasPeer = process.argv.includes("--peer");
  const peer = hasPeer ? await startChild(import.meta.url, ["peer", at], 0) : undefined;
  const goals: Goal[] = [];
  for (const store of stores) {
    const bench: Bench = { store, isFull, upstream, pipe, peer };
    for (const [name, part] of Object.entries(PARTS)) {
      if (!only || only.includes(name)) goals.push(...(await part(bench)));
    }
  }
  upstream.child.disconnect();
  pipe.child.disconnect();
  peer?.child.disconnect();
  const missed = goals.filter(({ value, atMost }) => !(value <= atMost * (1 + SLACK)));
  for (const { name, value, atMost } of goals) {
    const verdict = value <= atMost ? "holds" : "MISSED";
    console.log(
      `${name.padEnd(56)} ${value.toFixed(2).padStart(9)}  at most ${atMost}: ${verdict}`,
    );
  }
  if (missed.length > 0 && process.argv.includes("--check")) process.exitCode = 1;
  process.exit();
}
