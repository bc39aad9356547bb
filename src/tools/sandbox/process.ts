/**
 * A started process with everything that it starts, held together so that it can be ended whole.
 *
 * It leads a process group of its own, and its environment holds a mark that its children inherit: on
 * Linux those that left the group are found by it, or by the parents they still have. At `none` and
 * `process`, one that left the group, cleared its environment and lost its parents gets away
 * (`setsid env -i sleep 60 &` in a shell that ends); the sandbox ends its whole namespace.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Exit, RunningCommand } from "./sandbox.ts";

const MARK = "OFFSHOOT_COMMAND";

/** A process that the system cannot end at once (it waits for a disk) is not waited for longer. */
const MAX_SWEEPS = 400;
const SWEEP_PAUSE_MS = 5;

/** What was written before the end is still read; whoever got away does not hold the reader up. */
const DRAIN_MS = 1000;

export interface Start {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether the system ends with it all that it has started. */
  readonly isNamespace?: boolean | undefined;
}

/** Rejects with `Failure("tool_failed")` when it cannot be started. */
export async function startProcess(start: Start): Promise<RunningCommand> {
  const { argv, cwd, env, isNamespace = false } = start;
  const mark = randomBytes(16).toString("hex");
  const [program, ...words] = argv;
  const child = spawn(program, words, {
    cwd,
    env: { ...env, [MARK]: mark },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A command that leaves without reading its input is no failure of ours.
  child.stdin.on("error", () => undefined);
  await started(child, program);
  const group = createGroup(child);
  let ending: Promise<void> | undefined;

  async function end(): Promise<void> {
    // Looked for before their parents are gone, which are all that lead to some of them; and halted
    // first, because whoever starts processes without end would do so while we look.
    if (!isNamespace) group.halt();
    const isSought = !isNamespace && group.isRunning();
    const family = isSought ? findFamily(`${MARK}=${mark}`, child.pid) : [];
    group.kill();
    for (const pid of family) send(pid, "SIGKILL");
    await group.exited;
    await sweep(`${MARK}=${mark}`, family);
    setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, DRAIN_MS).unref();
  }

  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: group.exited,
    kill: () => {
      ending ??= end();
      return ending;
    },
  };
}

async function started(child: ChildProcessWithoutNullStreams, program: string): Promise<void> {
  try {
    await once(child, "spawn");
  } catch (cause) {
    const { code = "unknown reason" } = cause as NodeJS.ErrnoException;
    const name = clip(program, 80);
    throw new Failure("tool_failed", `\`${name}\` cannot be started (${code}).`, { cause });
  }
}

interface Group {
  readonly exited: Promise<Exit>;
  /** Whether its leader is, so that its number is nobody else's. */
  isRunning(): boolean;
  halt(): void;
  kill(): void;
}

/** The group's number is its leader's, and free for others once the last member has left. */
function createGroup(child: ChildProcessWithoutNullStreams): Group {
  let isEmpty = false;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      isEmpty = !send(-(child.pid ?? 0), 0);
      resolve({ code, signal });
    });
  });
  const tell = (signal: NodeJS.Signals): void => {
    if (!isEmpty && child.pid !== undefined) send(-child.pid, signal);
  };
  return {
    exited,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    halt: () => tell("SIGSTOP"),
    kill: () => tell("SIGKILL"),
  };
}

/**
 * Ends every process with the mark and what such a one started, and waits for them and for those of the
 * family, which have been told. Without `/proc` there is nothing to go by.
 */
async function sweep(mark: string, family: readonly number[]): Promise<void> {
  for (let round = 0; round < MAX_SWEEPS; round++) {
    const left = findFamily(mark, undefined);
    if (left.length === 0 && !family.some(isAlive)) return;
    for (const pid of left) send(pid, "SIGKILL");
    await delay(SWEEP_PAUSE_MS);
  }
}

/**
 * The processes whose environment holds the mark, the leader's, and all that descend from them. Read in
 * one go: a process that forks on and on gets little time in between.
 */
function findFamily(mark: string, leader: number | undefined): number[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = new Map(pids.map((pid) => [Number(pid), parentOf(pid)]));
  const heads = new Set(
    pids.filter((pid) => readProcess(pid, "environ").includes(mark)).map(Number),
  );
  if (leader !== undefined) heads.add(leader);
  const family = new Set<number>();
  // Once more for each generation, until nobody is added.
  for (let size = -1; size < family.size; ) {
    size = family.size;
    for (const [pid, parent] of parents) {
      if (heads.has(pid) || (parent !== undefined && family.has(parent))) family.add(pid);
    }
  }
  return [...family];
}

function parentOf(pid: string): number | undefined {
  return Number(readStatus(pid)[1]) || undefined;
}

/** One that has ended stays in the list until its parent asks how. */
function isAlive(pid: number): boolean {
  const [state = "Z"] = readStatus(String(pid));
  return !["", "Z", "X"].includes(state);
}

/** The state and the parent, from `1234 (a name) S 1 …`: the name may hold anything. */
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
    // Somebody else's, or gone meanwhile.
    return "";
  }
}

/** Whether there was somebody to send it to. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
