/**
 * This process as an owner of runs: its name, its heartbeat, and whether another one still lives. The one file of the
 * engine that looks at processes and keeps a timer of its own.
 *
 * No wall clock decides: it may be set forward by an hour while runs continue. Owners beat in monotonic time, which
 * all processes of one boot share. A process that cannot compare (another machine, another boot) watches whether the
 * beat changes, for the length of a lease in its own time. A process id counts only within one boot and one PID
 * namespace, and only together with the time of the process's start. A record with a clock of its own (a database
 * server) says itself how long an owner has been silent.
 *
 * Silence is not death: if the process can be looked for, it lives until it is gone, even if it was stopped or is
 * slow. And silence does not count while the judging process could not reach the record either: a program that locks
 * the file, or a database that is restarted, silences all of them.
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
import { createLease, type Lease } from "./lease.ts";

export const BEAT_MS = 1000;

/** The facts of the machine that decide about life; a test has its own. */
export interface MachineFacts {
  readonly host: string;
  /** The scope of monotonic time: the boot and the time namespace. Empty when unknown. */
  readonly boot: string;
  readonly pidNamespace: string;
  readonly pid: number;
  monotonicMs(): number;
  /** When a process started; empty when there is none, or it is not known. */
  startTimeOf(pid: number): string;
  hasProcess(pid: number): boolean;
}

export function readSurroundings(): MachineFacts {
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

/** Three beats: a shorter gap is a machine that is a little late. */
const GAP_MS = 3 * BEAT_MS;

/** How regularly the record has answered this process, which judges others by their silence. */
export interface Rhythm {
  /** The record has answered. */
  beaten(nowMs: number): void;
  /** This process stops asking for now, which is not a gap. */
  paused(): void;
  /** How much of the time since then was in gaps, in which no process could have written. */
  lostSince(sinceMs: number, nowMs: number): number;
}

interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

export function createRhythm(): Rhythm {
  let last: number | undefined;
  let gaps: Gap[] = [];
  const openGap = (nowMs: number): Gap[] =>
    last !== undefined && nowMs - last > GAP_MS ? [{ fromMs: last, toMs: nowMs }] : [];
  return {
    beaten(nowMs) {
      // A gap that is older than a lease no longer matters: an owner silent for that long is dead in any case.
      gaps = gaps.filter(({ toMs }) => nowMs - toMs <= LEASE_MS);
      gaps.push(...openGap(nowMs));
      last = nowMs;
    },
    paused() {
      last = undefined;
    },
    lostSince(sinceMs, nowMs) {
      const lost = [...gaps, ...openGap(nowMs)].map(({ fromMs, toMs }) =>
        Math.max(0, toMs - Math.max(fromMs, sinceMs)),
      );
      return lost.reduce((sum, ms) => sum + ms, 0);
    },
  };
}

export interface Heartbeat {
  readonly workerId: string;
  readonly lease: Pick<Lease, "isSure" | "term">;
  /** Beats once before it returns, then each second until `pause`. */
  begin(): Promise<void>;
  /** Beats now. Calls that come meanwhile wait for the same beat. */
  renew(): Promise<void>;
  pause(): void;
  /** The record has answered something that this process asks for regularly. */
  noteAnswer(): void;
  /** Writes that this worker is gone, so that no process has to wait for its lease. */
  end(): Promise<void>;
}

export interface HeartbeatParts {
  readonly around?: MachineFacts | undefined;
  readonly rhythm?: Rhythm | undefined;
  /** Called after a beat that came so late that others may have taken runs over. */
  readonly onGap?: (() => void) | undefined;
}

export function createHeartbeat(
  store: Ownership,
  clock: Clock,
  workerId: string,
  { around = readSurroundings(), rhythm = createRhythm(), onGap }: HeartbeatParts = {},
): Heartbeat {
  const self = toSelf(around, workerId);
  let timer: NodeJS.Timeout | undefined;
  let first: Promise<void> | undefined;
  let hasBeaten = false;
  let renewing: Promise<void> | undefined;
  const lease = createLease(clock, () => around.monotonicMs());
  const noteAnswer = (): void => rhythm.beaten(around.monotonicMs());
  const beat = async (beat_at_ms: number): Promise<void> => {
    hasBeaten = true;
    const sent = lease.now();
    await store.beat({ ...self, beat_at_ms, beat_ms: sent.monotonicMs });
    noteAnswer();
    if (lease.renewed(sent)) onGap?.();
  };

  return {
    workerId,
    lease,
    noteAnswer,
    renew() {
      renewing ??= beat(clock.now()).finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    begin() {
      if (first !== undefined) return first;
      timer = setInterval(() => {
        // The next second tries again; if the store stays broken, the run's own writes fail.
        beat(clock.now()).catch(() => {});
      }, BEAT_MS);
      timer.unref();
      const begun = beat(clock.now());
      first = begun;
      begun.catch(() => {
        // The next call tries again.
        if (first !== begun) return;
        clearInterval(timer);
        first = undefined;
      });
      return begun;
    },
    pause() {
      clearInterval(timer);
      first = undefined;
      rhythm.paused();
    },
    async end() {
      clearInterval(timer);
      // A process that only looked was never in the record.
      if (hasBeaten) await beat(0);
    },
  };
}

function toSelf(around: MachineFacts, id: string) {
  const { host, pid, boot, pidNamespace } = around;
  return { id, host, pid, boot, pid_namespace: pidNamespace, started: around.startTimeOf(pid) };
}

export function makeWorkerId(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
}

/** `unsure` until it has been watched for the length of a lease. */
export type Life = "alive" | "dead" | "unsure";

/** Remembers what it has seen of each worker, so it can be asked again and again. `isAlive` overrides it. */
export function createLiveness(
  around: MachineFacts = readSurroundings(),
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
    return nowMs - beatMs - rhythm.lostSince(beatMs, nowMs) > LEASE_MS;
  }

  /**
   * A record with a clock of its own knows better than this machine: a process that was stopped, or has lost its
   * network, still exists but writes nothing. Undefined if the record has no clock.
   */
  function toldByRecord({ silent_ms }: Worker): Life | undefined {
    if (silent_ms === undefined) return undefined;
    const nowMs = around.monotonicMs();
    return isOver(nowMs - silent_ms, nowMs) ? "dead" : "alive";
  }

  return (worker) => {
    // Its farewell.
    if (worker.beat_at_ms === 0) return "dead";
    const seenHere = lookFor(worker, around);
    if (seenHere === "dead") return seenHere;
    const told = toldByRecord(worker) ?? seenHere;
    if (told !== "unsure") return told;
    if (worker.boot === "" || worker.boot !== around.boot) return watch(worker);
    return isOver(worker.beat_ms, around.monotonicMs()) ? "dead" : "alive";
  };
}

/** What this machine knows of the process; `unsure` if it cannot know. */
function lookFor({ host, pid, boot, pid_namespace, started }: Worker, around: MachineFacts): Life {
  if (boot !== around.boot || pid_namespace !== around.pidNamespace) return "unsure";
  // Without `/proc` only the host's name says where a process id has a meaning.
  if (boot === "" && host !== around.host) return "unsure";
  if (!around.hasProcess(pid)) return "dead";
  // Another process may have its number by now.
  if (started === "") return "unsure";
  return around.startTimeOf(pid) === started ? "alive" : "dead";
}

/**
 * True for a young run that was not claimed: the process that wrote it down may still claim it. The wall clock is good
 * enough: nothing of such a run has happened, and two claims are one.
 */
export function isYoung(clock: Clock, createdAtMs: number): boolean {
  return Math.abs(clock.now() - createdAtMs) <= LEASE_MS;
}
