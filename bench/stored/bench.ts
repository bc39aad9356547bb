/** The shared parts of the bench of stored responses: what is asked, how it is measured and shown. */

import { CONTENDERS } from "../gateway/contenders.ts";
import { type Load, openProbe, runLoad } from "../gateway/load.ts";
import { cpuMs, type Started } from "../gateway/processes.ts";
import { KEY, type Server } from "./server.ts";

export interface Bench {
  readonly store: string;
  readonly isFull: boolean;
  readonly upstream: Started;
  readonly pipe: Started;
  /** The gateway that paced tokens are compared with; undefined without `--peer`. */
  readonly peer: Started | undefined;
}

export const PEER = "@musistudio/llms";

/** What must hold, as a number that is small enough. */
export interface Goal {
  readonly name: string;
  readonly value: number;
  readonly atMost: number;
}

/** The figures of a number of requests. */
export interface Figure {
  /** CPU for each request, in milliseconds. */
  readonly cpu: number;
  readonly ms: number;
  readonly perSecond: number;
  /** Waits for the disk for each request. */
  readonly syncs: number;
  /** Bytes that the store grew by for each request. */
  readonly bytes: number;
  /** The longest time of a health check. */
  readonly healthMs: number;
}

export const HEALTH_LIMIT_MS = 50;
const PROBE_EVERY_MS = 20;

const PROMPT = "Say something about foxes, in about a hundred words, and be kind to them.";

export type Kind = "plain" | "streamed";

/** A request of the Responses API, with further fields. */
export function toBody(kind: Kind, more: object = {}): string {
  const body = { model: "bench", instructions: "You are brief.", max_output_tokens: 400 };
  return JSON.stringify({ ...body, input: PROMPT, stream: kind === "streamed", ...more });
}

export function toLoad({ port }: { readonly port: number }, body: string): Load {
  const headers = { authorization: `Bearer ${KEY}` };
  return { port, path: "/v1/responses", headers, body, connections: 1, requests: 1 };
}

/** The same through the pipe, in the chat server's form. */
export function toPipeLoad(pipe: Started, kind: Kind, words?: string): Load {
  return toOtherLoad("byte pipe", pipe, kind, words);
}

/** The same through another gateway, in its form. `words` are in the prompt. */
export function toOtherLoad(name: string, { port }: Started, kind: Kind, words?: string): Load {
  const { path, headers, body } = CONTENDERS[name] ?? (undefined as never);
  const asked = JSON.stringify(body(kind === "streamed"));
  const text = words ? asked.replace("foxes", words) : asked;
  return { port, path, headers: headers(port), body: text, connections: 1, requests: 1 };
}

/** Makes health checks all the time. */
export async function measureServer(server: Server, load: Load): Promise<Figure> {
  return await measureWork(server, load.requests, () => runLoad(load));
}

/**
 * The same twice, once without health checks: where little is asked in a long time, 50 checks a second are a large part
 * of the CPU, and other gateways are not asked for any.
 */
export async function measureAlone(server: Server, load: Load): Promise<Figure> {
  const { healthMs } = await measureServer(server, load);
  const figure = await measureWork(server, load.requests, () => runLoad(load), NO_WATCH);
  return { ...figure, healthMs };
}

export async function measureWork(
  server: Server,
  requests: number,
  work: () => Promise<{ readonly medianMs: number; readonly tookMs: number }>,
  startWatch = watchHealth,
): Promise<Figure> {
  const watch = await startWatch(server.port);
  const before = { cpu: server.cpuMs(), syncs: server.syncs(), size: await server.sizeOf() };
  const { medianMs: ms, tookMs } = await work();
  const cpu = (server.cpuMs() - before.cpu) / requests;
  const syncs = (server.syncs() - before.syncs) / requests;
  const bytes = ((await server.sizeOf()) - before.size) / requests;
  const perSecond = (requests * 1000) / tookMs;
  return { cpu, ms, perSecond, syncs, bytes, healthMs: await watch.end() };
}

export async function measurePipe({ child }: Started, load: Load): Promise<Figure> {
  const before = cpuMs(child);
  const { medianMs: ms, tookMs } = await runLoad(load);
  const cpu = (cpuMs(child) - before) / load.requests;
  const perSecond = (load.requests * 1000) / tookMs;
  return { cpu, ms, perSecond, syncs: 0, bytes: 0, healthMs: 0 };
}

interface Watch {
  /** The longest time of a check, in milliseconds. */
  end(): Promise<number>;
}

const NO_WATCH = async (): Promise<Watch> => ({ end: async () => 0 });

async function watchHealth(port: number): Promise<Watch> {
  const probe = await openProbe(port, "/healthz");
  let worst = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      worst = Math.max(worst, await probe.ask());
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
    }
  })();
  return {
    async end() {
      isOver = true;
      await watching;
      probe.close();
      return worst;
    },
  };
}

/** One after the other and several times, the median of each: other load of the machine affects all of them. */
export async function takeTurns(
  contenders: Readonly<Record<string, () => Promise<Figure>>>,
  rounds: number,
): Promise<Readonly<Record<string, Figure>>> {
  const taken: Record<string, Figure[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(contenders)) {
      const figures = taken[name] ?? [];
      taken[name] = figures;
      figures.push(await measure());
    }
  }
  return Object.fromEntries(Object.entries(taken).map(([name, all]) => [name, toMiddle(all)]));
}

function toMiddle(figures: readonly Figure[]): Figure {
  const sorted = figures.toSorted((a, b) => a.cpu - b.cpu);
  const middle = sorted[sorted.length >> 1] ?? NOTHING;
  const healthMs = Math.max(...figures.map((figure) => figure.healthMs));
  return { ...middle, healthMs };
}

export const NOTHING: Figure = {
  cpu: Number.NaN,
  ms: 0,
  perSecond: 0,
  syncs: 0,
  bytes: 0,
  healthMs: 0,
};

export function print(name: string, { cpu, ms, perSecond, syncs, bytes, healthMs }: Figure): void {
  const figures = [
    `${cpu.toFixed(3).padStart(8)} ms of CPU`,
    `${ms.toFixed(1).padStart(8)} ms`,
    `${perSecond.toFixed(0).padStart(6)} a second`,
    `${syncs.toFixed(2).padStart(6)} syncs`,
    `${bytes.toFixed(0).padStart(7)} bytes`,
    `health ${healthMs.toFixed(0).padStart(4)} ms`,
  ];
  console.log(`${name.padEnd(44)} ${figures.join("  ")}`);
}

/** A busy machine delays everything: twice the time of a server that stores nothing is allowed. */
export function toHealthGoal(name: string, stored: Figure, unstored: Figure): Goal {
  const atMost = Math.max(HEALTH_LIMIT_MS, Math.ceil(2 * unstored.healthMs));
  return { name: `${name}: health checks, ms`, value: stored.healthMs, atMost };
}
