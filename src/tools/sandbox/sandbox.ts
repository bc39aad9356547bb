/**
 * Where commands run. Three levels, named in every run's record; a level that cannot be had is
 * refused when the run is opened, never replaced by a weaker one.
 *
 * Whatever the level: no shell unless asked for, an environment made from an allow-list, standard
 * input closed when its text is written, a process group of its own that is killed whole. Only
 * `sandbox` lets nothing of a command get away that means to.
 */

import type { ProcessMark } from "../../protocol/run-events.ts";
import type { Excess } from "./totals.ts";

export const SANDBOX_LEVELS = {
  none: {
    summary: "Runs as you do, with an environment that holds no keys.",
    stops: "Nobody.",
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
      "The operating system holds it: it sees the workspace and the system's programs, no other files, no network unless that is allowed, and no process of yours.",
    stops: "A hostile model, repository or client that runs any program it likes.",
    leaves:
      "Changes to the workspace's own files (a `Makefile` that you run later), and holes in the kernel.",
  },
} as const;
export type SandboxLevel = keyof typeof SANDBOX_LEVELS;

export interface Sandbox {
  readonly level: SandboxLevel;
  /** Starts a command. Rejects with `Failure("tool_failed")` when there is no such program. */
  start(command: Command): Promise<RunningCommand>;
  /** Removes what the level made for itself. Called once, when no command runs any more. */
  close(): Promise<void>;
}

export interface Command {
  readonly argv: readonly [string, ...string[]];
  /** Where it starts: a real path inside the workspace or one of `writes`. */
  readonly cwd: string;
  /** Variables beside the allow-list's, for what a tool needs itself. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Folders and files beside the workspace that it may read: an interpreter of its own. */
  readonly reads?: readonly string[] | undefined;
  /** Folders beside the workspace that it may change: a tool's own temporary folder. */
  readonly writes?: readonly string[] | undefined;
  /** Told who it is before its first instruction, which waits for it; where it rejects, nothing starts. */
  readonly onStart?: ((process: ProcessMark) => Promise<unknown>) | undefined;
}

/** Whoever started it kills it: `kill` in a `finally`, which may be called twice. */
export interface RunningCommand {
  /** Its number; all that it starts descends from it. */
  readonly pid?: number | undefined;
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: AsyncIterable<Buffer>;
  readonly stderr: AsyncIterable<Buffer>;
  /** Resolves when the command itself has left; never rejects. */
  readonly exited: Promise<Exit>;
  /** What it used more of than it may, where the sandbox ended it for that. Asked after `kill`. */
  exceeded?(): Excess | undefined;
  /**
   * Ends it and what it started. Resolves when nothing of that runs any more: of everything at `sandbox`,
   * of all that can be found at the other levels (`process.ts`).
   */
  kill(): Promise<void>;
}

export interface Exit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}
