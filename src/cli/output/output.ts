/**
 * The contract of an output format: a projection of the log onto standard output and error.
 *
 * Standard output carries the answer alone, in the format asked for; everything else is for
 * standard error.
 */

import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Output } from "../io.ts";

export interface Projection {
  /** One batch of the log, in order; the last one holds the `run_end`. */
  write(events: readonly LoggedEvent[]): Promise<void>;
}

export interface ProjectionOptions {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Hides tool calls and their results. */
  readonly brief: boolean;
  /** Hides all that is not the answer or an error. */
  readonly quiet: boolean;
  /** Whether the answer is a document, printed once and whole. */
  readonly isStructured: boolean;
  /** Whether the text form ends with the marker. */
  readonly doneMarker: boolean;
}

export const OUTPUT_FORMATS = ["text", "json", "jsonl", "sse"] as const;
export type OutputFormatName = (typeof OUTPUT_FORMATS)[number];

/** The code of one format is loaded, not that of all. */
export async function openProjection(
  format: OutputFormatName,
  options: ProjectionOptions,
): Promise<Projection> {
  switch (format) {
    case "text":
      return (await import("./text-output.ts")).createTextOutput(options);
    case "json":
      return (await import("./json-output.ts")).createJsonOutput(options);
    case "jsonl":
      return (await import("./json-output.ts")).createJsonLinesOutput(options);
    case "sse":
      return (await import("./sse-output.ts")).createSseOutput(options);
  }
}
