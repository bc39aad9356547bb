/**
 * This process as an owner of runs: its name, its heartbeat, and whether another one still lives.
 * The one file of the engine that looks at processes and keeps a timer of its own.
 *
 * No wall clock decides: it may be set forward by an hour while runs go on. Owners beat in monotonic
 * time, which all processes of one boot share. Whoever cannot compare (another machine, another boot)
 * watches whether the beat changes, for the length of a lease in time of its own. A process id counts
 * only within one boot and one PID namespace, and only together with the time of the process's start.
 */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../base/clock.ts";
import { hasProcess, readMachine, readMonotonicMs, readStartTime } from "../base/processes.ts";
import type { Store, Worker } from "../store/store.ts";

export const BEAT_MS = 1000;
/** Ten beats missed: a busy machine delays some, and a takeover by mistake repeats a step. */
export const LEASE_MS = 10_000;

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
  const { boot, pidNamespace, timeNamespace } = readMachine();
  return {
    host: hostname(),
    boot: boot === "" ? "" : `${boot}/${timeNamespace}`,
    pidNamespace,
    pid: process.pid,
    monotonicMs: readMonotonicMs,
    startTimeOf: readStartTime,
    hasProcess,
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

export function createHeartbeat(
  store: Store,
  clock: Clock,
  workerId: string,
  around: Surroundings = readSurroundings(),
): Heartbeat {
  const { host, pid, boot, pidNamespace } = around;
  const started = around.startTimeOf(pid);
  const self = { id: workerId, host, pid, boot, pid_namespace: pidNamespace, started };
  let timer: NodeJS.Timeout | undefined;
  let first: Promise<void> | undefined;
  const beat = (beat_at_ms: number): Promise<void> =>
    store.beat({ ...self, beat_at_ms, beat_ms: around.monotonicMs() });

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

/** `unsure` until it has been watched for the length of a lease. */
export type Life = "alive" | "dead" | "unsure";

/** Remembers what it has seen of each worker, so it is asked again and again. `isAlive` knows better. */
export function createLiveness(
  around: Surroundings = readSurroundings(),
  isAlive?: (worker: Worker) => boolean,
): (worker: Worker) => Life {
  if (isAlive) return (worker) => (isAlive(worker) ? "alive" : "dead");
  const seen = new Map<string, { readonly beat: string; readonly sinceMs: number }>();

  /** Nothing of another machine's clock is read: its beat changes, or it does not. */
  function watch({ id, beat_at_ms, beat_ms }: Worker): Life {
    const beat = `${beat_at_ms} ${beat_ms}`;
    const nowMs = around.monotonicMs();
    const last = seen.get(id);
    if (last?.beat === beat) return nowMs - last.sinceMs > LEASE_MS ? "dead" : "unsure";
    seen.set(id, { beat, sinceMs: nowMs });
    return last ? "alive" : "unsure";
  }

  return (worker) => {
    // Its farewell.
    if (worker.beat_at_ms === 0) return "dead";
    if (isGone(worker, around)) return "dead";
    if (worker.boot === "" || worker.boot !== around.boot) return watch(worker);
    return around.monotonicMs() - worker.beat_ms > LEASE_MS ? "dead" : "alive";
  };
}

/** Whether this machine knows that the process has ended; false where it cannot know. */
function isGone(
  { host, pid, boot, pid_namespace, started }: Worker,
  around: Surroundings,
): boolean {
  if (boot !== around.boot || pid_namespace !== around.pidNamespace) return false;
  // Without `/proc` nothing but the host's name says where a process id means something.
  if (boot === "" && host !== around.host) return false;
  if (!around.hasProcess(pid)) return true;
  return started !== "" && around.startTimeOf(pid) !== started;
}

/**
 * Whether a run of this age that nobody has claimed may still be by whoever wrote it down. The wall
 * clock is good enough: nothing of such a run has happened, and two claims are one.
 */
export function isYoung(clock: Clock, createdAtMs: number): boolean {
  return Math.abs(clock.now() - createdAtMs) <= LEASE_MS;
}
