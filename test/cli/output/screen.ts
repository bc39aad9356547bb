/** Where a projection writes in a test: everything that came, stream by stream and in its order. */

import type { Projection, ProjectionOptions } from "../../../src/cli/output/projection.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { toLog } from "../../responses/logged-run.ts";

export interface Screen {
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams as a terminal shows them. */
  readonly all: string;
  /** Each write, in order. */
  readonly writes: readonly (readonly ["stdout" | "stderr", string])[];
}

type Flags = Partial<Omit<ProjectionOptions, "stdout" | "stderr">> & {
  /** Which of the streams are terminals; none by default. */
  readonly terminals?: readonly ("stdout" | "stderr")[];
};

/** Writes the log in batches, by default in one. */
export async function project(
  create: (options: ProjectionOptions) => Projection,
  batches: readonly RunEvent[] | readonly (readonly RunEvent[])[],
  { terminals = [], ...flags }: Flags = {},
): Promise<Screen> {
  const writes: ["stdout" | "stderr", string][] = [];
  const output = (name: "stdout" | "stderr"): ProjectionOptions["stdout"] => ({
    isTerminal: terminals.includes(name),
    columns: 80,
    write: (text) => void writes.push([name, text]),
  });
  const off = { brief: false, quiet: false, isStructured: false, doneMarker: false };
  const streams = { stdout: output("stdout"), stderr: output("stderr") };
  const projection = create({ ...off, ...flags, ...streams });
  for (const batch of toBatches(batches)) await projection.write(toLog(batch));
  const join = (...names: string[]): string =>
    writes.flatMap(([name, text]) => (names.includes(name) ? [text] : [])).join("");
  return { writes, stdout: join("stdout"), stderr: join("stderr"), all: join("stdout", "stderr") };
}

export const BOTH = ["stdout", "stderr"] as const;

function toBatches(
  batches: readonly RunEvent[] | readonly (readonly RunEvent[])[],
): readonly (readonly RunEvent[])[] {
  const isBatched = batches.every((batch): batch is readonly RunEvent[] => Array.isArray(batch));
  return isBatched ? batches : [batches as readonly RunEvent[]];
}
