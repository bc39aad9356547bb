/** The settings of a runtime that decide what tool calls may do, with their defaults. */

import type { JsonObject } from "../base/json.ts";
import type { UndoMode } from "../protocol/file-changes.ts";
import type { Ask } from "../tools/gate/ask.ts";
import type { Rule } from "../tools/gate/rules.ts";
import type { FileBuffers } from "../tools/workspace/buffered-workspace.ts";

export interface SafetySettings {
  readonly rules: readonly Rule[];
  /** Undefined without a person to ask. */
  readonly ask: Ask | undefined;
  /**
   * How long a question waits for an answer, which may come from another process too. Undefined if no one can be
   * asked: the call is refused at once.
   */
  readonly approvalWaitMs: number | undefined;
  readonly toolTimeoutMs: number;
  /** The most calls of one turn that run at once, without those that wait for children. */
  readonly parallelCalls: number;
  readonly outputChars: number;
  /** Variables that commands get, besides the usual ones. */
  readonly commandEnv: readonly string[];
  /** True if git that a tool starts runs the hooks of repositories. */
  readonly gitHooks: boolean;
  readonly sandboxNetwork: boolean;
  readonly hardLinks: boolean;
  /** Paths that no tool touches, wherever the workspace is: the user's settings, records, logins. */
  readonly protectedPaths: readonly string[];
  /** Programs around tool calls and runs, by name, as in the setting `hooks`. */
  readonly hooks: JsonObject;
  /** Which changes to files are kept for an undo. */
  readonly undo: UndoMode;
  /** Files that are open in an editor, which are read and written there; on disk when left out. */
  readonly buffers?: FileBuffers | undefined;
}

export const SAFETY: SafetySettings = {
  rules: [],
  ask: undefined,
  approvalWaitMs: undefined,
  toolTimeoutMs: 120_000,
  // Enough to keep a disk busy; with more, one turn would starve the others.
  parallelCalls: 8,
  outputChars: 200_000,
  commandEnv: [],
  gitHooks: false,
  sandboxNetwork: false,
  hardLinks: false,
  protectedPaths: [],
  hooks: {},
  undo: "all",
};

/** A day: a person who went home finds the question in the morning, and no run waits for ever. */
const APPROVAL_WAIT_MS = 24 * 60 * 60 * 1000;

/** The settings that a program has given, with defaults for the others. */
export function toSafety(given: Partial<SafetySettings>): SafetySettings {
  const safety = { ...SAFETY, ...given };
  const wait = safety.ask ? APPROVAL_WAIT_MS : undefined;
  return { ...safety, approvalWaitMs: safety.approvalWaitMs ?? wait };
}
