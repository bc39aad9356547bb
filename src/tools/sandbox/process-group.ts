/**
 * A process and its group, and the ways to find processes that left the group on Linux: by a mark in the
 * environment, which children inherit, and by the parents they still have.
 */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../base/failure.ts";
import type { Exit } from "./sandbox.ts";

/**
 * How often to look. A process that the system cannot end at once (it waits for a disk) is not waited for
 * any longer.
 */
const MAX_SWEEPS = 400;
const SWEEP_PAUSE_MS = 5;

/** Rejects with `Failure("tool_failed")` if it cannot be started. The message names it as `what`. */
export async function untilStarted(
  child: ChildProcessWithoutNullStreams,
  what: string,
): Promise<void> {
  try {
    await once(child, "spawn");
  } catch (cause) {
    const { code = "unknown reason" } = cause as NodeJS.ErrnoException;
    throw new Failure("tool_failed", `${what} cannot be started (${code}).`, { cause });
  }
}

export interface ProcessGroup {
  readonly exited: Promise<Exit>;
  /** True while its leader runs, so that its number belongs to it. */
  isRunning(): boolean;
  send(signal: NodeJS.Signals): void;
}

/** The group has its leader's number, which others may get once the last member has ended. */
export function createGroup(child: ChildProcessWithoutNullStreams): ProcessGroup {
  let isEmpty = false;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      isEmpty = !send(-(child.pid ?? 0), 0);
      resolve({ code, signal });
    });
  });
  return {
    exited,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    send: (signal) => {
      if (!isEmpty && child.pid !== undefined) send(-child.pid, signal);
    },
  };
}

/**
 * Ends every process with the mark and those that it started. Waits for them and for those of `family`,
 * which have got the signal. Without `/proc` nothing can be found.
 */
export async function sweep(mark: string, family: readonly number[] = []): Promise<void> {
  for (let round = 0; round < MAX_SWEEPS; round++) {
    const left = findFamily(mark, undefined);
    if (left.length === 0 && !family.some(isAlive)) return;
    for (const pid of left) send(pid, "SIGKILL");
    await delay(SWEEP_PAUSE_MS);
  }
}

/**
 * The processes whose environment contains the mark, the leader's, and all that descend from them. Read in
 * one go, to leave little time for a process that keeps forking.
 */
export function findFamily(mark: string, leader: number | undefined): number[] {
  if (process.platform !== "linux") return [];
  const pids = listProcesses();
  const parents = new Map(pids.map((pid) => [Number(pid), parentOf(pid)]));
  const heads = new Set(
    pids.filter((pid) => readProcess(pid, "environ").includes(mark)).map(Number),
  );
  if (leader !== undefined) heads.add(leader);
  const family = new Set<number>();
  // Again for each generation, until none is added.
  for (let size = -1; size < family.size; ) {
    size = family.size;
    for (const [pid, parent] of parents) {
      if (heads.has(pid) || (parent !== undefined && family.has(parent))) family.add(pid);
    }
  }
  return [...family];
}

/** The marks of running processes under this name, if the system shows them. */
export function readMarks(variable: string): Set<string> {
  if (process.platform !== "linux") return new Set();
  const pattern = new RegExp(`(?:^|\\0)${variable}=([0-9a-f]+)(?:\\0|$)`);
  const found = listProcesses().map((pid) => pattern.exec(readProcess(pid, "environ"))?.[1] ?? "");
  return new Set(found);
}

function listProcesses(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

function parentOf(pid: string): number | undefined {
  return Number(readStatus(pid)[1]) || undefined;
}

/** A process that has ended stays in the list until its parent reads its exit code. */
function isAlive(pid: number): boolean {
  const [state = "Z"] = readStatus(String(pid));
  return !["", "Z", "X"].includes(state);
}

/** The state and the parent, from `1234 (a name) S 1 …`. The name may contain anything. */
function readStatus(pid: string): string[] {
  const stat = readProcess(pid, "stat");
  return stat
    .slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(" ", 2);
}

function readProcess(pid: string, file: "environ" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    // Another user's process, or one that has ended meanwhile.
    return "";
  }
}

/** True if there was a process to send it to. */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
