/**
 * The contract of an output format: a projection of the log onto standard output and error.
 *
 * Standard output carries the answer alone, in the format asked for; everything else is for
 * standard error.
 */

import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Io, Output } from "../io.ts";
import type { LiveBlock } from "./live-block.ts";
import { onlyRoot } from "./only-root.ts";
import type { TreeControls } from "./tree-keys.ts";

export interface Projection {
  /**
   * One batch of the log of the root or of a run below it, each in order; the first is of the root, and
   * the last one holds its `run_end`.
   */
  write(events: readonly LoggedEvent[]): Promise<void>;
  /** Reads what is not shown and yet counts: a turn that a process began, died in, and that is made again. */
  count?(events: readonly LoggedEvent[]): void;
  /** Whether it has shown on standard error, in the model's words, why there is no answer. */
  hasToldWhy?(): boolean;
  /** Gives back what it holds of the terminal; called once, however the run ended. */
  close?(): void;
}

export interface ProjectionOptions {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Hides tool calls and their results. */
  readonly brief: boolean;
  /** Shows all of what tools bring. */
  readonly verbose?: boolean | undefined;
  /** Hides all that is not the answer or an error. */
  readonly quiet: boolean;
  /** Whether the answer is a document, printed once and whole. */
  readonly isStructured: boolean;
  /** Whether the text form ends with the marker. */
  readonly doneMarker: boolean;
  /** The lines that are drawn over in place, shared with who else writes on the terminal. */
  readonly live?: LiveBlock | undefined;
  /** Whether subagents are shown beside it, so that calls for them need no line. */
  readonly isTreeShown?: boolean | undefined;
  /** What the keys of a live tree do; without `openKeys` there are none. */
  readonly controls?: TreeControls | undefined;
  readonly openKeys?: Io["openKeys"] | undefined;
}

export const OUTPUT_FORMATS = ["text", "json", "jsonl", "sse"] as const;
export type OutputFormatName = (typeof OUTPUT_FORMATS)[number];

/** The code of one format is loaded, not that of all. */
export async function openProjection(
  format: OutputFormatName,
  options: ProjectionOptions,
): Promise<Projection> {
  switch (format) {
    case "text": {
      const { createTextOutput } = await import("./text-output.ts");
      return (await import("./tree-output.ts")).createTreeOutput(options, createTextOutput);
    }
    case "json":
      return (await import("./json-output.ts")).createJsonOutput(options);
    case "jsonl":
      return (await import("./json-output.ts")).createJsonLinesOutput(options);
    case "sse":
      return onlyRoot((await import("./sse-output.ts")).createSseOutput(options));
  }
}
