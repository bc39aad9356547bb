/** What the levels of the sandbox have in common: what they are opened with, and what they do. */

import type { Variables } from "./environment.ts";
import type { Command } from "./sandbox.ts";

export interface SandboxParts {
  /** The real path of the workspace. */
  readonly root: string;
  /** The variables of this process, of which commands get an allow-list. */
  readonly env: Variables;
  /** Names of more variables that go to commands, whatever they hold. */
  readonly names?: readonly string[];
  /** Whether `sandbox` lets commands reach the network. */
  readonly network: boolean;
  /** Where private folders are made; the system's place for them when left out. */
  readonly tempDir?: string;
  /** Whether `sandbox` lets commands change the workspace; true when left out. */
  readonly writable?: boolean;
  /** Paths in the workspace, absolute or relative to it, that `sandbox` does not show. */
  readonly hidden: readonly string[];
  /** Paths in the workspace that `sandbox` shows and does not let change. */
  readonly readOnly?: readonly string[];
}

/** How a level turns a command into what is started. */
export interface Holder {
  wrap(command: Command): Promise<Wrapped>;
  close(): Promise<void>;
}

export interface Wrapped {
  readonly argv: readonly [string, ...string[]];
  /** Of the allow-list's variables, those that are different here. */
  readonly env: Readonly<Record<string, string>>;
}
