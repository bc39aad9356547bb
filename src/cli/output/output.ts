/** All output formats by name, each with the function that loads it. */

import type { Projection, ProjectionOptions } from "./projection.ts";

export const OUTPUT_FORMATS = ["text", "json", "jsonl", "sse"] as const;
export type OutputFormatName = (typeof OUTPUT_FORMATS)[number];

/** Loads the code of one format only. */
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

/**
 * Passes only events of the root, the run of the first event, to a projection that knows one run.
 */
export function onlyRoot(projection: Projection): Projection {
  let root: string | undefined;
  return {
    async write(events) {
      root ??= events[0]?.run_id;
      const own = events.filter(({ run_id }) => run_id === root);
      if (own.length > 0) await projection.write(own);
    },
  };
}
