/**
 * Where commands run. Three levels, named in every run's record; a level that cannot be had is
 * refused when the run is opened, never replaced by a weaker one.
 *
 * Whatever the level: no shell unless asked for, an environment made from an allow-list, standard
 * input closed when its text is written, a process group of its own that is killed whole. Only
 * `sandbox` lets nothing of a command get away that means to.
 */

export const SANDBOX_LEVELS = {
  none: {
    summary: "Commands run as you do; their environment holds no keys.",
  },
  process: {
    summary:
      "As `none`, with limits on memory, processes and file sizes, and a home folder of their own. It stops accidents, not attacks.",
  },
  sandbox: {
    summary:
      "The operating system holds them: they see the workspace and the system's programs, no other files, no network unless it is allowed, no process of yours.",
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
}

/** Whoever started it kills it: `kill` in a `finally`, which may be called twice. */
export interface RunningCommand {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: AsyncIterable<Buffer>;
  readonly stderr: AsyncIterable<Buffer>;
  /** Resolves when the command itself has left; never rejects. */
  readonly exited: Promise<Exit>;
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
