/** What is done to a cluster, by chance: each fault is one round. */

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machines.ts";

export interface Faults {
  /** Does one of them; returns what it was. */
  next(): Promise<string>;
  /** Ends what goes on: nobody stands still, and all are up. */
  end(): Promise<void>;
  /** When the database was stopped and was up again, by the test's clock. */
  readonly outages: readonly { readonly fromMs: number; readonly toMs: number }[];
}

type Fault = (parts: FaultParts) => Promise<string>;

interface FaultParts {
  readonly cluster: Cluster;
  readonly chance: () => number;
  readonly outages: { fromMs: number; toMs: number }[];
  /** Goes on beside the next rounds. */
  later(work: Promise<unknown>): void;
}

/** How long a replica stands still: less than its lease, or more. */
const SHORT_MS = 3000;
const LONG_MS = 12_000;
/** How long the database is away. */
const AWAY_MS = 2500;

/** Those that come more often are named more often. */
const FAULTS: readonly Fault[] = [kill, kill, kill, freeze, freeze, crash, cutSome, cutAll];

/** The first rounds have each of them once, however few there are. */
const FIRST: readonly Fault[] = [kill, freezeLong, crash, cutAll, kill, cutSome];

export function createFaults(cluster: Cluster, chance: () => number): Faults {
  const beside = new Set<Promise<unknown>>();
  const outages: { fromMs: number; toMs: number }[] = [];
  const later = (work: Promise<unknown>): void => {
    beside.add(work);
    void work.finally(() => beside.delete(work));
  };
  const parts = { cluster, chance, outages, later };
  let round = 0;
  return {
    outages,
    next: async () => await (FIRST[round++] ?? pick(FAULTS, chance) ?? kill)(parts),
    async end() {
      while (beside.size > 0) await Promise.all(beside);
      for (const machine of cluster.machines) await machine.ready();
    },
  };
}

async function kill({ cluster, chance }: FaultParts): Promise<string> {
  const machine = pick(cluster.machines, chance);
  await machine?.kill();
  return `kill -9 of ${machine?.name}`;
}

async function freeze(parts: FaultParts): Promise<string> {
  const isLong = parts.chance() < 1 / 2;
  return await freezeFor(parts, isLong ? LONG_MS : parts.chance() * SHORT_MS);
}

/** A replica: it has runs of its own. */
async function freezeLong(parts: FaultParts): Promise<string> {
  return await freezeFor(parts, LONG_MS, parts.cluster.replicas);
}

/** One at a time: the others must be able to go on. Another one is killed where one stands still. */
async function freezeFor(
  parts: FaultParts,
  ms: number,
  among: readonly Machine[] = parts.cluster.machines,
): Promise<string> {
  const { cluster, chance, later } = parts;
  if (cluster.machines.some(({ isFrozen }) => isFrozen)) return await kill(parts);
  const machine = pick(among, chance) ?? assert.fail();
  await machine.ready();
  machine.freeze();
  later(wakeLater(machine, ms));
  return `${machine.name} stands still for ${Math.round(ms)} ms`;
}

async function wakeLater(machine: Machine, ms: number): Promise<void> {
  await setTimeout(ms);
  machine.wake();
}

async function crash({ cluster, chance, outages }: FaultParts): Promise<string> {
  const outage = { fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY };
  outages.push(outage);
  await cluster.postgres.crash();
  const ms = chance() * AWAY_MS;
  await setTimeout(ms);
  await cluster.postgres.start();
  outage.toMs = performance.now();
  return `Postgres stopped at once, and started ${Math.round(ms)} ms later`;
}

async function cutSome({ cluster, chance }: FaultParts): Promise<string> {
  const share = chance();
  const { length } = await cut(cluster, `random() < ${share}`);
  return `${length} connections cut`;
}

async function cutAll({ cluster }: FaultParts): Promise<string> {
  const { length } = await cut(cluster, "true");
  return `all ${length} connections cut`;
}

async function cut(cluster: Cluster, which: string): Promise<unknown[]> {
  return await cluster.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'offshoot' and datname = current_database() and ${which}`);
}

function pick<One>(all: readonly One[], chance: () => number): One | undefined {
  return all[Math.floor(chance() * all.length)];
}
