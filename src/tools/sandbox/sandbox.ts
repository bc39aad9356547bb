/**
 * The contract of the place where commands run. There are three levels, named in every run's record. If a
 * level is not available, the run is refused when it is opened; a weaker level never replaces it.
 *
 * At every level: no shell unless requested, an environment made from an allow-list, standard input closed
 * after its text, and a process group of its own that is killed as a whole. Only `sandbox` also stops a
 * command that tries to get away.
 */

import type { ProcessMark } from "../../protocol/tool-process.ts";
import type { ExceededTotal } from "./totals.ts";

export const SANDBOX_LEVELS = {
  none: {
    summary: "Runs as you do, without keys in its environment.",
    stops: "Nothing.",
    leaves: "Everything you can do, a command can do.",
  },
  process: {
    summary:
      "As `none`, with limits on the memory and the files of each process, on the number of processes, and a home folder of its own.",
    stops: "Accidents: a program that runs away, or writes into your home folder by habit.",
    leaves:
      "Attacks: a command can read and change your files by their paths, and use the network.",
  },
  sandbox: {
    summary:
      "The operating system contains it: it sees the workspace and the system's programs, no other files, no network unless that is allowed, and no process of yours.",
    stops: "A hostile model, repository or client that runs any program it likes.",
    leaves:
      "Changes to the workspace's own files (a `Makefile` that you run later), and holes in the kernel.",
  },
} as const;
export type SandboxLevel = keyof typeof SANDBOX_LEVELS;

export interface Sandbox {
  readonly level: SandboxLevel;
  /** Starts a command. Rejects with `Failure("tool_failed")` if the program does not exist. */
  start(command: SandboxCommand): Promise<RunningCommand>;
  /** Removes what the level has created. Called once, when no command runs any more. */
  close(): Promise<void>;
}

export interface SandboxCommand {
  readonly argv: readonly [string, ...string[]];
  /** The folder to start in: a real path inside the workspace or one of `writes`. */
  readonly cwd: string;
  /** Variables in addition to the allow-list's, which the tool itself needs. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Folders and files outside of the workspace that it may read, such as its own interpreter. */
  readonly reads?: readonly string[] | undefined;
  /** Folders outside of the workspace that it may change, such as the tool's temporary folder. */
  readonly writes?: readonly string[] | undefined;
  /**
   * Called with the process before its first instruction, which waits for this. If it rejects, nothing
   * starts.
   */
  readonly onStart?: ((process: ProcessMark) => Promise<unknown>) | undefined;
}

/** The caller kills it: `kill` in a `finally`, which may be called twice. */
export interface RunningCommand {
  /** The command's process id; all that it starts descends from it. */
  readonly pid?: number | undefined;
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: AsyncIterable<Buffer>;
  readonly stderr: AsyncIterable<Buffer>;
  /** Resolves when the command itself has exited; never rejects. */
  readonly exited: Promise<Exit>;
  /** The limit that it exceeded, if the sandbox ended it for that. Call it after `kill`. */
  exceeded?(): ExceededTotal | undefined;
  /**
   * Ends it and what it started. Resolves when nothing of that runs any more: everything at `sandbox`, all
   * that can be found at the other levels (`process.ts`).
   */
  kill(): Promise<void>;
}

export interface Exit {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}
