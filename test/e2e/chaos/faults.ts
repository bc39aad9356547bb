/** The faults of a cluster, at random: each fault is one round. */

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { LEASE_MS } from "../../../src/store/ownership.ts";
import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machines.ts";
import type { TakeoverWatch } from "./takeovers.ts";

export interface Faults {
  /** Causes one of them; returns its description. */
  next(): Promise<string>;
  /** Ends what is still going on: no process is stopped, and all are up. */
  end(): Promise<void>;
  /** When the database was stopped and was up again, by the test's clock. */
  readonly outages: readonly { readonly fromMs: number; readonly toMs: number }[];
}

type Fault = (parts: FaultParts) => Promise<string>;

interface FaultParts {
  readonly cluster: Cluster;
  readonly takeovers: Pick<TakeoverWatch, "seen">;
  readonly chance: () => number;
  readonly outages: { fromMs: number; toMs: number }[];
  /** Continues beside the next rounds. */
  later(work: Promise<unknown>): void;
}

/** How long a machine is stopped, if for less than its lease. */
const SHORT_MS = 3000;
/** Or until others have begun to work on its runs, and up to so much longer: they may still work, or be done. */
const LATE_MS = 500;
/** Where it has no runs. */
const MOST_MS = LEASE_MS + 2500;
const LOOK_MS = 20;
/** How long the database is unavailable. */
const AWAY_MS = 2500;

/** More frequent faults are listed more often. */
const FAULTS: readonly Fault[] = [kill, kill, kill, freeze, freeze, crash, cutSome, cutAll];

/** The first rounds cause each of them once, however few rounds there are. */
const FIRST: readonly Fault[] = [kill, freezeLong, crash, cutAll, kill, cutSome];

export function createFaults(
  cluster: Cluster,
  { chance, takeovers }: Pick<FaultParts, "chance" | "takeovers">,
): Faults {
  const beside = new Set<Promise<unknown>>();
  const outages: { fromMs: number; toMs: number }[] = [];
  const later = (work: Promise<unknown>): void => {
    beside.add(work);
    void work.finally(() => beside.delete(work));
  };
  const parts = { cluster, chance, takeovers, outages, later };
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

/** Not one that is stopped, which is to wake up. */
async function kill({ cluster, chance }: FaultParts): Promise<string> {
  const others = cluster.machines.filter(({ isFrozen }) => !isFrozen);
  const machine = pick(others, chance);
  await machine?.kill();
  return `kill -9 of ${machine?.name}`;
}

async function freeze(parts: FaultParts): Promise<string> {
  if (parts.chance() < 1 / 2) return await freezeLong(parts, parts.cluster.machines);
  const ms = parts.chance() * SHORT_MS;
  return await freezeUntil(parts, parts.cluster.machines, {
    until: () => setTimeout(ms),
    told: `for ${Math.round(ms)} ms`,
  });
}

/** A replica unless told otherwise, because it has runs of its own. */
async function freezeLong(
  parts: FaultParts,
  among: readonly Machine[] = parts.cluster.replicas,
): Promise<string> {
  const lateMs = parts.chance() * LATE_MS;
  return await freezeUntil(parts, among, {
    until: () => untilTakenOver(parts, lateMs),
    told: `until ${Math.round(lateMs)} ms after its runs are taken over`,
  });
}

interface Freeze {
  /** When it wakes up. */
  readonly until: () => Promise<void>;
  readonly told: string;
}

/** One at a time, because the others must be able to continue. Another one is killed while one is stopped. */
async function freezeUntil(
  parts: FaultParts,
  among: readonly Machine[],
  { until, told }: Freeze,
): Promise<string> {
  const { cluster, chance, later } = parts;
  if (cluster.machines.some(({ isFrozen }) => isFrozen)) return await kill(parts);
  const machine = pick(among, chance) ?? assert.fail();
  await machine.ready();
  machine.freeze();
  later(until().then(() => machine.wake()));
  return `${machine.name} stands still ${told}`;
}

/** No other machine is stopped meanwhile. */
async function untilTakenOver(
  { takeovers: { seen } }: Pick<FaultParts, "takeovers">,
  lateMs: number,
): Promise<void> {
  const before = seen.length;
  const endMs = performance.now() + MOST_MS;
  const isTaken = (): boolean => seen.slice(before).some(({ isFromFrozen }) => isFromFrozen);
  while (!isTaken() && performance.now() < endMs) await setTimeout(LOOK_MS);
  await setTimeout(lateMs);
}

/**
 * A process waits for its record for half a minute, and what it could not write by then has failed. On a machine that
 * takes long to start the database, one outage after the other would be a longer one: each is followed by twice its time.
 */
async function crash(parts: FaultParts): Promise<string> {
  const { cluster, chance, outages } = parts;
  const { fromMs = 0, toMs = 0 } = outages.at(-1) ?? {};
  const nowMs = performance.now();
  const quietMs = nowMs - toMs;
  if (quietMs < 2 * (toMs - fromMs)) return await cutAll(parts);
  const outage = { fromMs: nowMs, toMs: Number.POSITIVE_INFINITY };
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
  const names = cluster.machines.map(({ name }) => name).join();
  return await cluster.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = any('{${names}}') and datname = current_database() and ${which}`);
}

function pick<One>(all: readonly One[], chance: () => number): One | undefined {
  return all[Math.floor(chance() * all.length)];
}
