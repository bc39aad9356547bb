/**
 * Measures how long runs have no working owner, by the clock of the database: from the last heartbeat of
 * the owner that died or was stopped to the moment at which another one has the run.
 *
 * The database is asked all the time. If it does not answer, or this process asks it late, no other process
 * makes progress either: the database is stopped, or the machine is overloaded. That time does not count.
 */

import { setTimeout } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";

export interface Takeover {
  readonly run: string;
  /** Since the last heartbeat of its owner. */
  readonly ms: number;
  /** How much of that time the database or the machine made no progress. */
  readonly stillMs: number;
  /** True if its owner was stopped and will wake up, and not dead. */
  readonly isFromFrozen: boolean;
}

export interface TakeoverWatch {
  readonly seen: readonly Takeover[];
  end(): Promise<void>;
}

const LOOK_MS = 50;
/** The usual time between two queries on a machine that is not overloaded. */
const USUAL_MS = 100;

/** Roots only: its parent takes over a subagent, once it gets there. */
const LOOK = `select r.id, r.owner, r.epoch, extract(epoch from clock_timestamp()) * 1000 as now_ms
  from offshoot.runs as r where r.status = 'running' and r.parent_id is null`;
const BEATS = `select id, pid, extract(epoch from beaten_at) * 1000 as beaten_ms
  from offshoot.workers`;

interface Known {
  readonly owner: string | null;
  readonly epoch: number;
}

interface Beat {
  readonly pid: number;
  readonly beatenMs: number;
}

export function watchTakeovers(cluster: Pick<Cluster, "query" | "machines">): TakeoverWatch {
  const seen: Takeover[] = [];
  const known = new Map<string, Known>();
  const beats = new Map<string, Beat>();
  /** When each look was answered. */
  const looks: number[] = [];
  let isEnded = false;
  const isFrozen = (process: number): boolean =>
    cluster.machines.some(({ pid, isFrozen: isStopped }) => pid === process && isStopped);
  const look = async (): Promise<void> => {
    const runs = await cluster.query(LOOK);
    looks.push(performance.now());
    for (const row of runs) {
      const id = String(row["id"]);
      const owner = toOwner(row["owner"]);
      const epoch = Number(row["epoch"]);
      const before = known.get(id);
      known.set(id, { owner, epoch });
      const beat = before?.owner ? beats.get(before.owner) : undefined;
      if (!before?.owner || beat === undefined || before.epoch + 1 !== epoch) continue;
      if (before.owner !== owner) {
        const ms = Math.round(Number(row["now_ms"]) - beat.beatenMs);
        const stillMs = Math.round(countStill(looks, ms));
        seen.push({ run: id, ms, stillMs, isFromFrozen: isFrozen(beat.pid) });
      }
    }
    for (const row of await cluster.query(BEATS)) {
      const beat = { pid: Number(row["pid"]), beatenMs: Number(row["beaten_ms"]) };
      beats.set(String(row["id"]), beat);
    }
  };
  const watching = (async () => {
    while (!isEnded) {
      await look();
      await setTimeout(LOOK_MS);
    }
  })();
  return {
    seen,
    async end() {
      isEnded = true;
      await watching;
    },
  };
}

function toOwner(owner: unknown): string | null {
  return owner === null ? null : String(owner);
}

/** The part of the last milliseconds in which the next query was overdue. */
function countStill(looks: readonly number[], ms: number): number {
  const fromMs = (looks.at(-1) ?? 0) - ms;
  let still = 0;
  for (const [at, atMs] of looks.entries()) {
    const beforeMs = Math.max(looks[at - 1] ?? atMs, fromMs);
    still += Math.max(0, atMs - beforeMs - LOOK_MS - USUAL_MS);
  }
  return still;
}
