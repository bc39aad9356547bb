/** Single responses: whole, streamed in a burst, and streamed a token at a time. */

import { EVENTS } from "../gateway/upstream.ts";
import {
  type Bench,
  type Figure,
  type Goal,
  type Kind,
  measureAlone,
  measurePipe,
  measureServer,
  NOTHING,
  PEER,
  print,
  takeTurns,
  toBody,
  toHealthGoal,
  toLoad,
  toOtherLoad,
  toPipeLoad,
} from "./bench.ts";
import { type Server, startServer } from "./server.ts";

const CONNECTIONS = [1, 32, 256];
const QUICK_CONNECTIONS = [1, 32];
const REQUESTS = { plain: 600, streamed: 300 } as const;
/**
 * V8 is still compiling during the first thousands, and what is stored is more code: measured earlier, a stored
 * response costs a third more than a minute later.
 */
const WARM_UP = { plain: 5000, streamed: 2000 } as const;
const ROUNDS = 3;
const MOST_TIMES_UNSTORED = 2;
const MOST_SYNCS = 2;
/** What `@musistudio/llms`, which stores nothing, needs for a token compared with the pipe: 258 to 125 µs. */
const MOST_TIMES_PIPE_PACED = 258 / 125;
/** Milliseconds between the events of each stream: about 1,600 a second of all streams together. */
const PACED = { 1: 20, 32: 20, 256: 160 } as const;

export async function measureLoads(bench: Bench): Promise<Goal[]> {
  const goals: Goal[] = [];
  await withServer(bench, async (server) => {
    for (const kind of ["plain", "streamed"] as const) {
      await warmUp(server, bench, kind);
      for (const connections of bench.isFull ? CONNECTIONS : QUICK_CONNECTIONS) {
        goals.push(...(await measureLoad(server, bench, { kind, connections })));
      }
    }
  });
  return goals;
}

interface Asked {
  readonly kind: Kind;
  readonly connections: number;
}

async function measureLoad(
  server: Server,
  { pipe, store }: Bench,
  { kind, connections }: Asked,
): Promise<Goal[]> {
  const requests = REQUESTS[kind];
  const size = { connections, requests };
  const at = `${store}, ${kind}, ${connections}`;
  const figures = await takeTurns(
    {
      pipe: () => measurePipe(pipe, { ...toPipeLoad(pipe, kind), ...size }),
      unstored: () =>
        measureServer(server, { ...toLoad(server, toBody(kind, NOT_STORED)), ...size }),
      stored: () => measureServer(server, { ...toLoad(server, toBody(kind)), ...size }),
    },
    ROUNDS,
  );
  const { unstored, stored } = show(at, figures);
  const times = stored.cpu / unstored.cpu;
  return [
    { name: `${at}: CPU, times unstored`, value: times, atMost: MOST_TIMES_UNSTORED },
    ...(connections === 1
      ? [{ name: `${at}: syncs a response`, value: stored.syncs, atMost: MOST_SYNCS }]
      : []),
    toHealthGoal(at, stored, unstored),
  ];
}

const NOT_STORED = { store: false };

function show(at: string, figures: Readonly<Record<string, Figure>>) {
  const { pipe = NOTHING, unstored = NOTHING, stored = NOTHING } = figures;
  for (const [name, figure] of Object.entries(figures)) print(`${at}: ${name}`, figure);
  const ofPipe = stored.cpu / pipe.cpu;
  const ofUnstored = stored.cpu / unstored.cpu;
  console.log(
    `  stored: ${ofPipe.toFixed(2)} times the pipe, ${ofUnstored.toFixed(2)} times unstored\n`,
  );
  return { pipe, unstored, stored };
}

/** Tokens that come one by one: the figures are for each token. */
export async function measurePaced(bench: Bench): Promise<Goal[]> {
  const goals: Goal[] = [];
  const all = Object.entries(PACED).filter(([count]) => bench.isFull || count === "32");
  await withServer(bench, async (server) => {
    await warmUp(server, bench, "streamed");
    for (const [count, pace] of all) {
      goals.push(...(await measurePace(server, bench, { connections: Number(count), pace })));
    }
  });
  return goals;
}

async function measurePace(
  server: Server,
  { pipe, peer, store }: Bench,
  { connections, pace }: { readonly connections: number; readonly pace: number },
): Promise<Goal[]> {
  const size = { connections, requests: connections };
  const at = `${store}, paced, ${connections}`;
  const words = `pace:${pace}`;
  const [stored, unstored] = [{ input: words }, { input: words, ...NOT_STORED }].map((more) => ({
    ...toLoad(server, toBody("streamed", more)),
    ...size,
  }));
  if (!stored || !unstored) return [];
  const figures = await takeTurns(
    {
      pipe: async () =>
        perToken(await measurePipe(pipe, { ...toPipeLoad(pipe, "streamed", words), ...size })),
      ...(peer && {
        peer: async () =>
          perToken(
            await measurePipe(peer, { ...toOtherLoad(PEER, peer, "streamed", words), ...size }),
          ),
      }),
      unstored: async () => perToken(await measureAlone(server, unstored)),
      stored: async () => perToken(await measureAlone(server, stored)),
    },
    ROUNDS,
  );
  const shown = show(at, figures);
  const other = figures["peer"];
  const goal = other
    ? { name: `${at}: CPU a token, times ${PEER}`, value: shown.stored.cpu / other.cpu, atMost: 1 }
    : {
        name: `${at}: CPU a token, times the pipe`,
        value: shown.stored.cpu / shown.pipe.cpu,
        atMost: MOST_TIMES_PIPE_PACED,
      };
  return [goal, toHealthGoal(at, shown.stored, shown.unstored)];
}

function perToken(figure: Figure): Figure {
  const { cpu, syncs, bytes, perSecond } = figure;
  return {
    ...figure,
    cpu: cpu / EVENTS,
    syncs: syncs / EVENTS,
    bytes: bytes / EVENTS,
    perSecond: perSecond * EVENTS,
  };
}

async function withServer(
  { store, upstream }: Bench,
  work: (server: Server) => Promise<void>,
): Promise<void> {
  const server = await startServer({ store, upstreamPort: upstream.port, workers: 1, core: 0 });
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

async function warmUp(server: Server, { pipe, peer }: Bench, kind: Kind): Promise<void> {
  const size = { connections: 32, requests: WARM_UP[kind] };
  if (peer) await measurePipe(peer, { ...toOtherLoad(PEER, peer, kind), ...size });
  await measurePipe(pipe, { ...toPipeLoad(pipe, kind), ...size });
  for (const more of [{}, NOT_STORED]) {
    await measureServer(server, { ...toLoad(server, toBody(kind, more)), ...size });
  }
}
