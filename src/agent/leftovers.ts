/** What the commands of a run's past owner left running. */

import type { RunContext } from "../engine/engine.ts";
import type { Notice } from "../protocol/run-events.ts";
import type { Gate } from "../tools/gate/gate.ts";

interface LeftoverParts {
  readonly context: Pick<RunContext, "readLog">;
  readonly gate: Pick<Gate, "endLeftovers">;
}

/** Ends it: it would run beside the same commands, started again. Tells of what cannot be ended. */
export async function endLeftovers({ context, gate }: LeftoverParts): Promise<Notice[]> {
  const log = await context.readLog();
  const started = log.flatMap(({ event }) => (event.type === "tool_process" ? [event] : []));
  return (await gate.endLeftovers(started)).map(({ pid }) => ({
    type: "notice",
    code: "process",
    message: `Process ${pid}, which this run started before it was interrupted, still runs and cannot be ended.`,
  }));
}
