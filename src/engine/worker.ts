/**
 * This process as an owner of runs: its name, its heartbeat, and whether another one still lives.
 * The one file of the engine that looks at processes and keeps a timer of its own.
 */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../base/clock.ts";
import type { Store, Worker } from "../store/store.ts";

const BEAT_MS = 1000;
/** Ten beats missed: a busy machine delays some, and a takeover by mistake repeats a step. */
const LEASE_MS = 10_000;

export interface Heartbeat {
  readonly workerId: string;
  /** Beats once before it returns, then each second until `pause`. */
  begin(): Promise<void>;
  pause(): void;
  /** Says that this worker is gone, so that nobody has to wait for its lease. */
  end(): Promise<void>;
}

export function createHeartbeat(store: Store, clock: Clock, workerId: string): Heartbeat {
  let timer: NodeJS.Timeout | undefined;
  let first: Promise<void> | undefined;
  const beat = (beat_at_ms: number): Promise<void> =>
    store.beat({ id: workerId, host: hostname(), pid: process.pid, beat_at_ms });

  return {
    workerId,
    begin() {
      if (first !== undefined) return first;
      timer = setInterval(() => {
        // The next second tries again; a store that stays broken shows in the run's own writes.
        beat(clock.now()).catch(() => {});
      }, BEAT_MS);
      timer.unref();
      first = beat(clock.now());
      return first;
    },
    pause() {
      clearInterval(timer);
      first = undefined;
    },
    async end() {
      clearInterval(timer);
      await beat(0);
    },
  };
}

export function makeWorkerId(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
}

/** Dead at once when its process is gone from this host, else when its lease has run out. */
export function createLiveness(clock: Clock): (worker: Worker) => boolean {
  return ({ host, pid, beat_at_ms }) => {
    if (host === hostname() && !isProcess(pid)) return false;
    return isFresh(clock, beat_at_ms);
  };
}

export function isFresh(clock: Clock, atMs: number): boolean {
  return clock.now() - atMs <= LEASE_MS;
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: it is there, but another user's.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
