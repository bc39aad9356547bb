/**
 * How long runs are without an owner that works, by the clock of the database: from the last beat of the owner that died
 * or stands still to the moment at which another one has the run.
 */

import { setTimeout } from "node:timers/promises";
import { LEASE_MS } from "../../../src/store/ownership.ts";
import type { Cluster } from "./cluster.ts";

export interface Takeover {
  readonly run: string;
  /** Since the last beat of its owner. */
  readonly ms: number;
  /** How long the test itself did not look, at most, meanwhile: a busy machine is late with everything. */
  readonly blindMs: number;
}

export interface TakeoverWatch {
  readonly seen: readonly Takeover[];
  end(): Promise<void>;
}

const LOOK_MS = 50;

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
        seen.push({ run: id, ms, blindMs: Math.round(longestGap(looks)) });
      }
    }
    for (const row of await cluster.query(BEATS)) {
      beats.set(String(row["id"]), Number(row["beaten_ms"]));
    }
    // As long as a takeover may take.
    const fromMs = performance.now() - 2 * LEASE_MS;
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

function longestGap(times: readonly number[]): number {
  let longest = 0;
  for (const [at, time] of times.entries()) {
    longest = Math.max(longest, time - (times[at - 1] ?? time));
  }
  return longest;
}
