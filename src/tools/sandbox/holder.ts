/** What the levels of the sandbox have in common: what they are opened with, and what they do. */

import type { Variables } from "./environment.ts";
import type { Command } from "./sandbox.ts";
import type { Totals } from "./totals.ts";

export interface SandboxParts {
  /** The real path of the workspace. */
  readonly root: string;
  /** The variables of this process, of which commands get an allow-list. */
  readonly env: Variables;
  /** Names of more variables that go to commands, whatever they hold. */
  readonly names?: readonly string[];
  /** Whether git runs the hooks of repositories; it does not when left out. */
  readonly gitHooks?: boolean;
  /** Whether `sandbox` lets commands reach the network. */
  readonly network: boolean;
  /** Where private folders are made; the system's place for them when left out. */
  readonly tempDir?: string;
  /** Whether `sandbox` lets commands change the workspace; true when left out. */
  readonly writable?: boolean;
  /**
   * Paths in the workspace, absolute or relative to it, that `sandbox` does not show and does not let
   * commands make where they are missing.
   */
  readonly hidden: readonly string[];
  /** Paths in the workspace that `sandbox` shows and does not let commands change, or make. */
  readonly readOnly?: readonly string[];
  /** More of those, asked for before each command: what must not be made may depend on what is there. */
  readonly findReadOnly?: () => readonly string[];
  /** Paths that must not change because this one must not: asked about all that is read-only. */
  readonly leadsTo?: (path: string) => readonly string[];
  /** What else of the workspace `sandbox` does not show: asked about all that is there, at any depth. */
  readonly isHidden?: Weigh;
  /** What else of the workspace `sandbox` does not let change, at any depth. */
  readonly isReadOnly?: Weigh;
  /**
   * For commands of somebody who must learn nothing of whoever runs them: their variables are made up,
   * and `sandbox` shows a made-up user, home and machine, with the workspace at `place`.
   */
  readonly stranger?: { readonly place: string };
  /** What all that a command starts may use together; only each process is limited when left out. */
  readonly totals?: Totals;
}

/** About a path relative to the workspace, with `/` between names. Must give the same answer each time. */
export type Weigh = (relative: string, kind: EntryKind) => boolean;

/** A link counts as a file: where it leads is not looked at. */
export type EntryKind = "file" | "folder";

/** How a level turns a command into what is started. */
export interface Holder {
  wrap(command: Command): Promise<Wrapped>;
  close(): Promise<void>;
}

export interface Wrapped {
  readonly argv: readonly [string, ...string[]];
  /** Of the allow-list's variables, those that are different here. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes back what was set up for this command. Called once, when nothing of it runs any more. */
  release?(): Promise<void>;
}
