/**
 * A started process with everything that it starts, so that all of it can be ended.
 *
 * It leads a process group of its own, and its environment contains a mark that its children inherit: on
 * Linux, processes that left the group are found by the mark, or by the parents they still have. At `none`
 * and `process`, a process that left the group, cleared its environment and lost its parents gets away
 * (`setsid env -i sleep 60 &` in a shell that ends); the sandbox ends its whole namespace. If this process
 * is killed, the keeper ends what is left (`life-line.ts`).
 */

import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { clip } from "../../base/text.ts";
import type { ProcessMark } from "../../protocol/tool-process.ts";
import { spawnWaiting } from "./life-line.ts";
import { createGroup, findFamily, send, sweep, untilStarted } from "./process-group.ts";
import type { RunningCommand } from "./sandbox.ts";

/** The variable with a command's mark. */
export const MARK = "OFFSHOOT_COMMAND";

/** Output from before the end is still read; a process that got away does not delay the reader. */
const DRAIN_MS = 1000;

export interface Start {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** True if the system ends everything that it has started with it. */
  readonly isNamespace?: boolean | undefined;
  /** Called with the process before it becomes the program, which waits for this. */
  readonly onStart?: ((process: ProcessMark) => Promise<unknown>) | undefined;
}

/** More than a pipe holds, in pieces of the size in which it is read. */
const MAX_ROUNDS = 64;

/**
 * Closes pipes whose writer has ended, after their rest was read: on a busy machine the time limit may pass
 * before this process has read anything.
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

/** Rejects with `Failure("tool_failed")` if it cannot be started. */
export async function startProcess(start: Start): Promise<RunningCommand> {
  const { argv, cwd, env, isNamespace = false } = start;
  const waiting = spawnWaiting({ argv, cwd, env, variable: MARK });
  const { child, mark } = waiting;
  // A command that exits without reading its input is not a failure.
  child.stdin.on("error", () => undefined);
  // Node.js drops the output of a child that has exited and whose output has no listener yet.
  for (const pipe of [child.stdout, child.stderr]) pipe.on("readable", () => undefined);
  await untilStarted(child, `\`${clip(argv[0], 80)}\``);
  const group = createGroup(child);
  let ending: Promise<void> | undefined;

  async function end(): Promise<void> {
    // Found before their parents are gone, which are the only link to some of them; and halted first,
    // because a process may keep starting others during the search.
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
