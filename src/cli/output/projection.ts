/**
 * The contract of an output format: a projection of the log onto standard output and error.
 *
 * Standard output has only the answer, in the chosen format; everything else goes to standard error.
 */

import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Io, Output } from "../io.ts";
import type { LiveBlock } from "./live-block.ts";
import type { TreeControls } from "./tree-keys.ts";

export interface Projection {
  /**
   * Writes one batch of the log of the root or of a run below it. Each log is in order; the first batch is the
   * root's, and the last one has its `run_end`.
   */
  write(events: readonly LoggedEvent[]): Promise<void>;
  /**
   * Counts events that are not shown: a turn that a process began before it died, and that is repeated.
   */
  count?(events: readonly LoggedEvent[]): void;
  /** True if standard error already has the model's words on why there is no answer. */
  hasToldWhy?(): boolean;
  /** Releases the terminal; called once, however the run ended. */
  close?(): void;
}

export interface ProjectionOptions {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Hides tool calls and their results. */
  readonly brief: boolean;
  /** Shows the complete output of tools. */
  readonly verbose?: boolean | undefined;
  /** Hides everything except the answer and errors. */
  readonly quiet: boolean;
  /** True if the answer is a document, which is printed once and complete. */
  readonly isStructured: boolean;
  /** True if the text form ends with the marker. */
  readonly doneMarker: boolean;
  /**
   * The lines that are overwritten in place, shared with other code that writes to the terminal.
   */
  readonly live?: LiveBlock | undefined;
  /** True if subagents are shown beside it, so that calls for them need no line. */
  readonly isTreeShown?: boolean | undefined;
  /** The actions of a live tree's keys; without `openKeys` there are none. */
  readonly controls?: TreeControls | undefined;
  readonly openKeys?: Io["openKeys"] | undefined;
}
