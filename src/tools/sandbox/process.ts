/**
 * A started process with everything that it starts, held together so that it can be ended whole.
 *
 * It leads a process group of its own, and its environment holds a mark that its children inherit: on
 * Linux those that left the group are found by it. At `none` and `process`, one that leaves the group
 * and clears its environment as well gets away; the sandbox ends its whole namespace.
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
}

/** Rejects with `Failure("tool_failed")` when it cannot be started. */
export async function startProcess({ argv, cwd, env }: Start): Promise<RunningCommand> {
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
    group.kill();
    await group.exited;
    await sweep(`${MARK}=${mark}`);
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
  return {
    exited,
    kill: () => {
      if (!isEmpty && child.pid !== undefined) send(-child.pid, "SIGKILL");
    },
  };
}

/** Ends every process whose environment holds the mark. Where there is no `/proc`, there is nothing to go by. */
async function sweep(mark: string): Promise<void> {
  if (process.platform !== "linux") return;
  for (let round = 0; round < MAX_SWEEPS; round++) {
    const left = marked(mark);
    if (left.length === 0) return;
    for (const pid of left) send(pid, "SIGKILL");
    await delay(SWEEP_PAUSE_MS);
  }
}

/** Read in one go: a process that forks on and on gets little time in between. */
function marked(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "latin1").includes(mark);
      } catch {
        // Somebody else's, or gone meanwhile.
        return false;
      }
    })
    .map(Number);
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
