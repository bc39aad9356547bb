/** The same load with more processes, and on a slow disk. */

import { runLoad } from "../gateway/load.ts";
import {
  type Bench,
  type Figure,
  type Goal,
  HEALTH_LIMIT_MS,
  measureServer,
  print,
  takeTurns,
  toBody,
  toLoad,
} from "./bench.ts";
import { startServer } from "./server.ts";

const PROCESSES = [1, 2, 3];
const REQUESTS = 600;
const SYNC_MS = 5;
const WARM_UP_REQUESTS = 8000;
const ROUNDS = 3;
/** With 32 connections, compared with one. */
const LEAST_GROWTH = 10;

export async function measureProcesses({ store, upstream }: Bench): Promise<Goal[]> {
  for (const workers of PROCESSES) {
    const server = await startServer({ store, upstreamPort: upstream.port, workers });
    const load = { ...toLoad(server, toBody("plain")), connections: 32, requests: REQUESTS };
    await runLoad(load);
    print(`${store}, plain, 32, ${workers} processes`, await measureServer(server, load));
    await server.close();
  }
  return [];
}

export async function measureSlowDisk({ store, upstream }: Bench): Promise<Goal[]> {
  const options = { store, upstreamPort: upstream.port, workers: 1, core: 0, syncMs: SYNC_MS };
  const server = await startServer(options);
  // V8 is still compiling in the first ones, which would hide the disk.
  const warmUp = { connections: 32, requests: WARM_UP_REQUESTS };
  await runLoad({ ...toLoad(server, toBody("plain")), ...warmUp });
  const figures: Figure[] = [];
  for (const [connections, requests] of [
    [1, 100],
    [32, REQUESTS],
  ] as const) {
    const load = { ...toLoad(server, toBody("plain")), connections, requests };
    const at = `${store}, plain, ${connections}, a sync takes ${SYNC_MS} ms`;
    const measured = await takeTurns({ [at]: () => measureServer(server, load) }, ROUNDS);
    for (const [name, figure] of Object.entries(measured)) {
      print(name, figure);
      figures.push(figure);
    }
  }
  await server.close();
  const [alone, together] = figures;
  const growth = (together?.perSecond ?? 0) / (alone?.perSecond ?? 0);
  const at = `${store}, a sync takes ${SYNC_MS} ms`;
  const healthMs = Math.max(...figures.map((figure) => figure.healthMs));
  return [
    // The required growth divided by the measured one.
    { name: `${at}: ${LEAST_GROWTH} / growth at 32`, value: LEAST_GROWTH / growth, atMost: 1 },
    { name: `${at}: health checks, ms`, value: healthMs, atMost: HEALTH_LIMIT_MS },
  ];
}
