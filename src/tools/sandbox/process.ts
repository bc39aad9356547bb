/**
 * A started process with everything that it starts, held together so that it can be ended whole.
 *
 * It leads a process group of its own, and its environment holds a mark that its children inherit: on
 * Linux those that left the group are found by it, or by the parents they still have. At `none` and
 * `process`, one that left the group, cleared its environment and lost its parents gets away
 * (`setsid env -i sleep 60 &` in a shell that ends); the sandbox ends its whole namespace. What is left
 * when this process is killed is ended by the keeper (`life-line.ts`).
 */

import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { clip } from "../../base/text.ts";
import type { ProcessMark } from "../../protocol/run-events.ts";
import { spawnWaiting } from "./life-line.ts";
import { createGroup, findFamily, send, sweep, untilStarted } from "./process-group.ts";
import type { RunningCommand } from "./sandbox.ts";

/** The variable that holds a command's mark. */
export const MARK = "OFFSHOOT_COMMAND";

/** What was written before the end is still read; whoever got away does not hold the reader up. */
const DRAIN_MS = 1000;

export interface Start {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether the system ends with it all that it has started. */
  readonly isNamespace?: boolean | undefined;
  /** Told who it is before it becomes the program, which waits for it. */
  readonly onStart?: ((process: ProcessMark) => Promise<unknown>) | undefined;
}

/** More than a pipe holds, in pieces of the size in which it is read. */
const MAX_ROUNDS = 64;

/**
 * Closes pipes whose writer has ended, after what is still in them was read: on a busy machine the time to
 * read may be over before this process has had a turn to read anything.
 */
async function closeWhenRead(pipes: readonly Readable[]): Promise<void> {
  const readBytes = (): number =>
    pipes.reduce((sum, pipe) => sum + (pipe instanceof Socket ? pipe.bytesRead : 0), 0);
  for (let round = 0, before = -1; round < MAX_ROUNDS && before !== readBytes(); round++) {
    before = readBytes();
    await nextTurn();
  }
  for (const pipe of pipes) pipe.destroy();
}

/** Rejects with `Failure("tool_failed")` when it cannot be started. */
export async function startProcess(start: Start): Promise<RunningCommand> {
  const { argv, cwd, env, isNamespace = false } = start;
  const waiting = spawnWaiting({ argv, cwd, env, variable: MARK });
  const { child, mark } = waiting;
  // A command that leaves without reading its input is no failure of ours.
  child.stdin.on("error", () => undefined);
  await untilStarted(child, `\`${clip(argv[0], 80)}\``);
  const group = createGroup(child);
  let ending: Promise<void> | undefined;

  async function end(): Promise<void> {
    // Looked for before their parents are gone, which are all that lead to some of them; and halted
    // first, because whoever starts processes without end would do so while we look.
    if (!isNamespace) group.send("SIGSTOP");
    const isSought = !isNamespace && group.isRunning();
    const family = isSought ? findFamily(`${MARK}=${mark}`, child.pid) : [];
    group.send("SIGKILL");
    for (const pid of family) send(pid, "SIGKILL");
    await group.exited;
    await sweep(`${MARK}=${mark}`, family);
    waiting.release();
    setTimeout(() => void closeWhenRead([child.stdout, child.stderr]), DRAIN_MS).unref();
  }

  const kill = (): Promise<void> => {
    ending ??= end();
    return ending;
  };
  try {
    const process = await waiting.hold();
    await start.onStart?.(process);
    waiting.go();
  } catch (thrown) {
    await kill();
    throw thrown;
  }
  const { pid, stdin, stdout, stderr } = child;
  return { pid, stdin, stdout, stderr, exited: group.exited, kill };
}
