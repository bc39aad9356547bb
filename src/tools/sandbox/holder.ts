/** The types that all levels of the sandbox share: what they are opened with, and what they do. */

import type { Environment } from "../../base/environment.ts";
import type { SandboxCommand } from "./sandbox.ts";
import type { ResourceTotals } from "./totals.ts";

export interface SandboxParts {
  /** The real path of the workspace. */
  readonly root: string;
  /** The variables of this process, of which commands get an allow-list. */
  readonly env: Environment;
  /** Names of more variables for commands, whatever their values. */
  readonly names?: readonly string[];
  /** True if git runs the hooks of repositories; false if missing. */
  readonly gitHooks?: boolean;
  /** True if `sandbox` lets commands reach the network. */
  readonly network: boolean;
  /** The folder in which private folders are made; the system's own if missing. */
  readonly tempDir?: string;
  /** True if `sandbox` lets commands change the workspace; true if missing. */
  readonly writable?: boolean;
  /**
   * Paths in the workspace, absolute or relative to it, that `sandbox` does not show. Commands cannot
   * create them if they are missing.
   */
  readonly hidden: readonly string[];
  /** Paths in the workspace that `sandbox` shows and that commands can neither change nor create. */
  readonly readOnly?: readonly string[];
  /** More of those, for each command: which paths must not be created may depend on what exists. */
  readonly findReadOnly?: () => readonly string[];
  /** Paths that must not change because the given one must not. Called for every read-only path. */
  readonly leadsTo?: (path: string) => readonly string[];
  /** True for more paths that `sandbox` does not show. Called for everything in the workspace, at any depth. */
  readonly isHidden?: Weigh;
  /** True for more paths that commands cannot change, at any depth. */
  readonly isReadOnly?: Weigh;
  /**
   * Set for commands of a client that must learn nothing about this machine: their variables are made up,
   * and `sandbox` shows a made-up user, home and machine, with the workspace at `place`.
   */
  readonly stranger?: { readonly place: string };
  /** The limits on everything that a command starts together; if missing, only each process is limited. */
  readonly totals?: ResourceTotals;
}

/** Judges a path relative to the workspace, with `/` between names. Must give the same answer each time. */
export type Weigh = (relative: string, kind: EntryKind) => boolean;

/** A link counts as a file, whatever its target. */
export type EntryKind = "file" | "folder";

/** How a level turns a command into the program to start. */
export interface Holder {
  wrap(command: SandboxCommand): Promise<HeldCommand>;
  close(): Promise<void>;
}

export interface HeldCommand {
  readonly argv: readonly [string, ...string[]];
  /** The allow-list's variables that differ here. */
  readonly env: Readonly<Record<string, string>>;
  /** Undoes the setup for this command. Called once, when nothing of it runs any more. */
  release?(): Promise<void>;
}
