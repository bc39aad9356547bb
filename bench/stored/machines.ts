/** The same load with more processes, and on a disk that takes its time. */

import { runLoad } from "../gateway/load.ts";
import {
  type Bench,
  type Figure,
  type Goal,
  HEALTH_LIMIT_MS,
  measureServer,
  print,
  toBody,
  toLoad,
} from "./bench.ts";
import { startServer } from "./server.ts";

const PROCESSES = [1, 2, 3];
const REQUESTS = 600;
const SYNC_MS = 5;
/** With 32 connections, against one. */
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
  const figures: Figure[] = [];
  for (const [connections, requests] of [
    [1, 100],
    [32, REQUESTS],
  ] as const) {
    const load = { ...toLoad(server, toBody("plain")), connections, requests };
    await runLoad(load);
    const figure = await measureServer(server, load);
    print(`${store}, plain, ${connections}, a sync takes ${SYNC_MS} ms`, figure);
    figures.push(figure);
  }
  await server.close();
  const [alone, together] = figures;
  const growth = (together?.perSecond ?? 0) / (alone?.perSecond ?? 0);
  const at = `${store}, a sync takes ${SYNC_MS} ms`;
  const healthMs = Math.max(...figures.map((figure) => figure.healthMs));
  return [
    // As much more as must be, over as much as it is.
    { name: `${at}: ${LEAST_GROWTH} / growth at 32`, value: LEAST_GROWTH / growth, atMost: 1 },
    { name: `${at}: health checks, ms`, value: healthMs, atMost: HEALTH_LIMIT_MS },
  ];
}
