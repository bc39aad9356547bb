/**
 * A runner as a process: the leader of a group of its own, which is ended as a whole. What it has started in other
 * groups carries a mark in its environment; by this mark it is found on Linux when the runner was killed and could not
 * end it.
 */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { clip } from "../../base/text.ts";
import { holdGroup } from "../../tools/sandbox/life-line.ts";
import { createGroup, sweep, untilStarted } from "../../tools/sandbox/process-group.ts";
import type { Exit } from "../../tools/sandbox/sandbox.ts";
import { CHILD_MARK } from "./child-mark.ts";

/** How long it has to write down its ending when it is asked to end. */
const GRACE_MS = 2000;
/**
 * Output that was written before the end is still read; a process that keeps the pipe open delays this only so long.
 */
const DRAIN_MS = 1000;

export interface RunnerStart {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The first line of the input, which stays open after it. */
  readonly line: string;
}

export interface RunnerProcess {
  /** Writes a line to its standard input. */
  write(line: string): void;
  readonly exited: Promise<Exit>;
  /** Resolves when it has exited and its output was read; soon after the exit at the latest. */
  readonly drained: Promise<unknown>;
  /** True if it exits in this time. */
  leaves(ms: number): Promise<boolean>;
  /** Asks it to end; if it does not in time, kills it and everything it started. */
  end(): Promise<void>;
}

export interface Listening {
  onOutput(bytes: Uint8Array): void;
  onError(bytes: Uint8Array): void;
}

/** Rejects with `Failure("tool_failed")` when it cannot be started. */
export async function startRunner(
  { argv, cwd, env, line }: RunnerStart,
  { onOutput, onError }: Listening,
  clock: Clock,
): Promise<RunnerProcess> {
  const mark = randomBytes(16).toString("hex");
  const [program, ...words] = argv;
  const child = spawn(program, words, {
    cwd,
    env: { ...env, [CHILD_MARK]: mark },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdout.on("data", onOutput);
  child.stderr.on("data", onError);
  // A process that exits without reading says why elsewhere.
  child.stdin.on("error", () => {});
  const group = createGroup(child);
  const closed = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
  });
  await untilStarted(child, `Subagent \`${clip(program, 80)}\``);
  // With grace: a healthy runner sees that its parent is gone, and writes down how it ended.
  const held = holdGroup(child.pid ?? 0, `${CHILD_MARK}=${mark}`, "grace");
  const write = (text: string): void => void child.stdin.write(`${text}\n`);
  write(line);
  const { exited } = group;

  async function end(): Promise<void> {
    group.send("SIGTERM");
    await within(GRACE_MS, exited, clock);
    group.send("SIGKILL");
    const { code } = await exited;
    // A runner that exited normally has ended what it had started.
    if (code !== 0) await sweep(`${CHILD_MARK}=${mark}`);
    held.release();
    await within(DRAIN_MS, closed, clock);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  }

  let ending: Promise<void> | undefined;
  return {
    write,
    exited,
    drained: exited.then(() => within(DRAIN_MS, closed, clock)),
    leaves: (ms) => within(ms, exited, clock),
    end: () => {
      ending ??= end();
      return ending;
    },
  };
}

/** True if the event happens in this time. */
async function within(ms: number, event: Promise<unknown>, clock: Clock): Promise<boolean> {
  const done = new AbortController();
  const happened = event.then(() => true);
  // A sleep that is no longer needed rejects into the race, which is over.
  const late = clock.sleep(ms, done.signal).then(() => false);
  return await Promise.race([happened, late]).finally(() => done.abort());
}
