/**
 * How long runs are without an owner that works, by the clock of the database: from the last beat of the owner that died
 * or stands still to the moment at which another one has the run.
 *
 * The database is asked all the time. Where it does not answer, or this process comes to ask it late, nobody else gets
 * on either: the database is stopped, or the machine has too much to do. That time does not count.
 */

import { setTimeout } from "node:timers/promises";
import { LEASE_MS } from "../../../src/store/ownership.ts";
import type { Cluster } from "./cluster.ts";

export interface Takeover {
  readonly run: string;
  /** Since the last beat of its owner. */
  readonly ms: number;
  /** How much of that the database or the machine stood still. */
  readonly stillMs: number;
}

export interface TakeoverWatch {
  readonly seen: readonly Takeover[];
  end(): Promise<void>;
}

const LOOK_MS = 50;
/** What a look may take on a machine that has time. */
const USUAL_MS = 100;

/** Of roots alone: a subagent is taken over by its parent, once that comes to it. */
const LOOK = `select r.id, r.owner, r.epoch, extract(epoch from clock_timestamp()) * 1000 as now_ms
  from offshoot.runs as r where r.status = 'running' and r.parent_id is null`;
const BEATS = `select id, extract(epoch from beaten_at) * 1000 as beaten_ms from offshoot.workers`;

interface Known {
  readonly owner: string | null;
  readonly epoch: number;
}

export function watchTakeovers(cluster: Pick<Cluster, "query">): TakeoverWatch {
  const seen: Takeover[] = [];
  const known = new Map<string, Known>();
  const beats = new Map<string, number>();
  let looks: number[] = [];
  let isEnded = false;
  const look = async (): Promise<void> => {
    const runs = await cluster.query(LOOK);
    looks.push(performance.now());
    for (const row of runs) {
      const [id, owner, epoch] = [String(row["id"]), toOwner(row["owner"]), Number(row["epoch"])];
      const before = known.get(id);
      known.set(id, { owner, epoch });
      const beaten = before?.owner ? beats.get(before.owner) : undefined;
      if (!before?.owner || beaten === undefined || before.epoch + 1 !== epoch) continue;
      if (before.owner !== owner) {
        const ms = Math.round(Number(row["now_ms"]) - beaten);
        seen.push({ run: id, ms, stillMs: Math.round(countStill(looks, ms)) });
      }
    }
    for (const row of await cluster.query(BEATS)) {
      beats.set(String(row["id"]), Number(row["beaten_ms"]));
    }
    // Longer than a takeover takes.
    const fromMs = performance.now() - 4 * LEASE_MS;
    looks = looks.filter((atMs) => atMs > fromMs);
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

/** Of the last so many milliseconds, those in which the next look was overdue. */
function countStill(looks: readonly number[], ms: number): number {
  const fromMs = (looks.at(-1) ?? 0) - ms;
  let still = 0;
  for (const [at, atMs] of looks.entries()) {
    const beforeMs = Math.max(looks[at - 1] ?? atMs, fromMs);
    still += Math.max(0, atMs - beforeMs - LOOK_MS - USUAL_MS);
  }
  return still;
}
