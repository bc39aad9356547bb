/**
 * From a load to what it needs. Pure: costs of a response and of a token, times the load. Costs come from the measured
 * points (`points.ts`); values that were assumed and not measured are in `ASSUMED`.
 */

import type { Point } from "../stored/sizing.ts";

export interface ModelLoad {
  /** At the busiest time. */
  readonly responsesPerSecond: number;
  /** The share of responses that are streamed, 0 to 1. */
  readonly streamed: number;
  /** Of one response. */
  readonly tokens: number;
  /** How fast the model writes one stream. */
  readonly tokensPerSecond: number;
  /** The busiest time divided by the mean of a day. */
  readonly peak: number;
  /** How long responses are kept. */
  readonly keepDays: number;
}

/** What is counted for a response, and for a token. */
const COUNTED = [
  "serverCpuMs",
  "databaseCpuMs",
  "transactions",
  "syncs",
  "keptBytes",
  "walBytes",
] as const;
export type Counted = (typeof COUNTED)[number];
export type Cost = Readonly<Record<Counted, number>>;

export interface Costs {
  /** Of a response that is not streamed. */
  readonly plain: Cost;
  /** Of a streamed response, without its tokens. */
  readonly streamed: Cost;
  /** Of a token that comes by itself. Tokens that come together are written together, and cost less. */
  readonly token: Cost;
  /** Memory of a server without load, and of each open stream. */
  readonly serverBytes: number;
  readonly streamBytes: number;
  /** The most connections of each process. */
  readonly connections: number;
}

/** What was not measured but is assumed, with the reason. */
export const ASSUMED = {
  /** Of a server's core: above it, waiting times grow faster than the load. */
  serverUse: 0.6,
  /** Of the database's cores: vacuum, backups and load peaks need the rest. */
  databaseUse: 0.5,
  /** Servers beyond what the load needs: one may be updated or die. */
  spareReplicas: 1,
  /** Of a process without load, with V8's own room to grow: measured were 105 MB at the start, 170 to 230 MB later. */
  processBytes: 250e6,
  /** The most of each process: the pool of `postgres-driver.ts`, and the connection that listens. */
  connections: 9,
} as const;

/** With fewer connections a token is written by itself: the model is for servers with a load. */
const LEAST_CONNECTIONS = 32;

export function toCosts(points: readonly Point[]): Costs {
  const plain = find(points, "plain");
  const streamed = find(points, "streamed at once");
  const fitted = points.filter(isFitted);
  // The mean of several paces: how many tokens are written together differs between them.
  const token = (key: Counted): number => {
    const all = fitted.map((point) => (point[key] - streamed[key]) / point.pacedTokens);
    return Math.max(0, all.reduce((sum, one) => sum + one, 0) / all.length);
  };
  const idle = Math.min(...points.map(({ memoryBytes }) => memoryBytes));
  const fullest = points.toSorted((a, b) => b.connections - a.connections)[0] ?? plain;
  return {
    plain: pick((key) => plain[key]),
    streamed: pick((key) => streamed[key]),
    token: pick(token),
    serverBytes: ASSUMED.processBytes,
    streamBytes: Math.max(0, (fullest.memoryBytes - idle) / fullest.connections),
    connections: ASSUMED.connections,
  };
}

/** True if the cost of a token is taken from this point: tokens that come one by one, to a server with a load. */
export function isFitted({ pacedTokens, connections }: Point): boolean {
  return pacedTokens > 0 && connections >= LEAST_CONNECTIONS;
}

function find(points: readonly Point[], name: string): Point {
  const found = points.find((point) => point.name === name);
  if (found) return found;
  throw new Error(`There is no point \`${name}\`.`);
}

function pick(of: (key: Counted) => number): Cost {
  return {
    serverCpuMs: of("serverCpuMs"),
    databaseCpuMs: of("databaseCpuMs"),
    transactions: of("transactions"),
    syncs: of("syncs"),
    keptBytes: of("keptBytes"),
    walBytes: of("walBytes"),
  };
}

/** The cost of one average response of a load. */
export function toResponseCost(
  costs: Costs,
  { streamed, tokens }: Pick<ModelLoad, "streamed" | "tokens">,
): Cost {
  return pick(
    (key) =>
      (1 - streamed) * costs.plain[key] +
      streamed * (costs.streamed[key] + tokens * costs.token[key]),
  );
}

export interface Needs {
  readonly serverCores: number;
  readonly replicas: number;
  readonly databaseCores: number;
  readonly connections: number;
  readonly transactionsPerSecond: number;
  readonly walBytesPerSecond: number;
  readonly walBytesPerDay: number;
  readonly keptBytesPerDay: number;
  /** After the number of days that responses are kept. */
  readonly keptBytes: number;
  readonly openStreams: number;
  /** Of all servers. */
  readonly memoryBytes: number;
}

const DAY_SECONDS = 86_400;

/** A replica is a process, and has a core. */
export function toNeeds(costs: Costs, load: ModelLoad): Needs {
  const cost = toResponseCost(costs, load);
  const rate = load.responsesPerSecond;
  const perDay = (rate / load.peak) * DAY_SECONDS;
  const serverCores = (rate * cost.serverCpuMs) / 1000;
  const replicas = Math.ceil(serverCores / ASSUMED.serverUse) + ASSUMED.spareReplicas;
  const openStreams = rate * load.streamed * (load.tokens / load.tokensPerSecond);
  return {
    serverCores,
    replicas,
    databaseCores: (rate * cost.databaseCpuMs) / 1000 / ASSUMED.databaseUse,
    connections: replicas * costs.connections,
    transactionsPerSecond: rate * cost.transactions,
    walBytesPerSecond: rate * cost.walBytes,
    walBytesPerDay: perDay * cost.walBytes,
    keptBytesPerDay: perDay * cost.keptBytes,
    keptBytes: perDay * cost.keptBytes * load.keepDays,
    openStreams,
    memoryBytes: replicas * costs.serverBytes + openStreams * costs.streamBytes,
  };
}

export interface Compared {
  readonly point: string;
  readonly counted: Counted;
  readonly measured: number;
  readonly model: number;
}

/** The model's figures next to the measured ones, for points with a load. */
export function comparePoints(costs: Costs, points: readonly Point[]): Compared[] {
  const loaded = points.filter(({ connections }) => connections >= LEAST_CONNECTIONS);
  return loaded.flatMap((point) => {
    const streamed = point.isStreamed ? 1 : 0;
    const cost = toResponseCost(costs, { streamed, tokens: point.pacedTokens });
    return COUNTED.map((counted) => ({
      point: `${point.name}, ${point.connections}`,
      counted,
      measured: point[counted],
      model: cost[counted],
    }));
  });
}
