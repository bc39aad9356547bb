/**
 * This process as an owner of runs: its name, its heartbeat, and whether another one still lives.
 * The one file of the engine that looks at processes and keeps a timer of its own.
 *
 * No wall clock decides: it may be set forward by an hour while runs go on. Owners beat in monotonic
 * time, which all processes of one boot share. Whoever cannot compare (another machine, another boot)
 * watches whether the beat changes, for the length of a lease in time of its own. A process id counts
 * only within one boot and one PID namespace, and only together with the time of the process's start. A record
 * that has a clock of its own (a database server) tells itself for how long an owner has been silent.
 *
 * Silence is not death: where the process can be looked for, it lives until it is gone, stopped or held up
 * as it may be. Where it cannot, nobody is judged for the time in which the judge could not write either:
 * a program that locks the file silences all of them.
 */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../base/clock.ts";
import {
  hasProcess,
  readMachine,
  readMonotonicBoot,
  readMonotonicMs,
  readStartTime,
} from "../base/processes.ts";
import { LEASE_MS, type Ownership, type Worker } from "../store/ownership.ts";

export const BEAT_MS = 1000;

/** What of the machine decides about life; a test has one of its own. */
export interface Surroundings {
  readonly host: string;
  /** Where monotonic time is the same: the boot and the time namespace. Empty when unknown. */
  readonly boot: string;
  readonly pidNamespace: string;
  readonly pid: number;
  monotonicMs(): number;
  /** When a process started; empty when there is none, or nobody can tell. */
  startTimeOf(pid: number): string;
  hasProcess(pid: number): boolean;
}

export function readSurroundings(): Surroundings {
  return {
    host: hostname(),
    boot: readMonotonicBoot(),
    pidNamespace: readMachine().pidNamespace,
    pid: process.pid,
    monotonicMs: readMonotonicMs,
    startTimeOf: readStartTime,
    hasProcess,
  };
}

/** Three beats: less is a machine that is a little late. */
const GAP_MS = 3 * BEAT_MS;

/** How regularly this process itself has come to write its beat. */
export interface Rhythm {
  beaten(nowMs: number): void;
  /** Since when its beats have come without a gap; long ago for one that never beat. */
  steadySince(nowMs: number): number;
}

export function createRhythm(): Rhythm {
  let last: number | undefined;
  let since = Number.NEGATIVE_INFINITY;
  return {
    beaten(nowMs) {
      if (last !== undefined && nowMs - last > GAP_MS) since = nowMs;
      last = nowMs;
    },
    steadySince: (nowMs) => (last !== undefined && nowMs - last > GAP_MS ? nowMs : since),
  };
}

export interface Heartbeat {
  readonly workerId: string;
  /** Beats once before it returns, then each second until `pause`. */
  begin(): Promise<void>;
  pause(): void;
  /** Says that this worker is gone, so that nobody has to wait for its lease. */
  end(): Promise<void>;
}

export interface HeartbeatParts {
  readonly around?: Surroundings | undefined;
  readonly rhythm?: Rhythm | undefined;
}

export function createHeartbeat(
  store: Ownership,
  clock: Clock,
  workerId: string,
  { around = readSurroundings(), rhythm = createRhythm() }: HeartbeatParts = {},
): Heartbeat {
  const { host, pid, boot, pidNamespace } = around;
  const started = around.startTimeOf(pid);
  const self = { id: workerId, host, pid, boot, pid_namespace: pidNamespace, started };
  let timer: NodeJS.Timeout | undefined;
  let first: Promise<void> | undefined;
  let hasBeaten = false;
  const beat = async (beat_at_ms: number): Promise<void> => {
    hasBeaten = true;
    await store.beat({ ...self, beat_at_ms, beat_ms: around.monotonicMs() });
    rhythm.beaten(around.monotonicMs());
  };

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
      // Whoever only looked was never in the record.
      if (hasBeaten) await beat(0);
    },
  };
}

export function makeWorkerId(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
}

/** `unsure` until it has been watched for the length of a lease. */
export type Life = "alive" | "dead" | "unsure";

/** Remembers what it has seen of each worker, so it is asked again and again. `isAlive` knows better. */
export function createLiveness(
  around: Surroundings = readSurroundings(),
  isAlive?: (worker: Worker) => boolean,
  rhythm: Rhythm = createRhythm(),
): (worker: Worker) => Life {
  if (isAlive) return (worker) => (isAlive(worker) ? "alive" : "dead");
  const seen = new Map<string, { readonly beat: string; readonly sinceMs: number }>();

  /** Nothing of another machine's clock is read: its beat changes, or it does not. */
  function watch({ id, beat_at_ms, beat_ms }: Worker): Life {
    const beat = `${beat_at_ms} ${beat_ms}`;
    const nowMs = around.monotonicMs();
    const last = seen.get(id);
    if (last?.beat === beat) return isOver(last.sinceMs, nowMs) ? "dead" : "unsure";
    seen.set(id, { beat, sinceMs: nowMs });
    return last ? "alive" : "unsure";
  }

  function isOver(beatMs: number, nowMs: number): boolean {
    return nowMs - Math.max(beatMs, rhythm.steadySince(nowMs)) > LEASE_MS;
  }

  return (worker) => {
    // Its farewell.
    if (worker.beat_at_ms === 0) return "dead";
    const seenHere = lookFor(worker, around);
    if (seenHere === "dead") return seenHere;
    const told = toldBy(worker) ?? seenHere;
    if (told !== "unsure") return told;
    if (worker.boot === "" || worker.boot !== around.boot) return watch(worker);
    return isOver(worker.beat_ms, around.monotonicMs()) ? "dead" : "alive";
  };
}

/**
 * A record with a clock of its own knows better than this machine: a process that was stopped, or whose network is
 * gone, is there and writes nothing. Undefined where the record has none.
 */
function toldBy({ silent_ms }: Worker): Life | undefined {
  if (silent_ms === undefined) return undefined;
  return silent_ms > LEASE_MS ? "dead" : "alive";
}

/** What this machine knows of the process; `unsure` where it cannot know. */
function lookFor({ host, pid, boot, pid_namespace, started }: Worker, around: Surroundings): Life {
  if (boot !== around.boot || pid_namespace !== around.pidNamespace) return "unsure";
  // Without `/proc` nothing but the host's name says where a process id means something.
  if (boot === "" && host !== around.host) return "unsure";
  if (!around.hasProcess(pid)) return "dead";
  // Another process may have its number by now.
  if (started === "") return "unsure";
  return around.startTimeOf(pid) === started ? "alive" : "dead";
}

/**
 * Whether a run of this age that nobody has claimed may still be by whoever wrote it down. The wall
 * clock is good enough: nothing of such a run has happened, and two claims are one.
 */
export function isYoung(clock: Clock, createdAtMs: number): boolean {
  return Math.abs(clock.now() - createdAtMs) <= LEASE_MS;
}
