/** The usage of a response's subagents, at any depth: its `usage` is that of the whole tree. */

import { asJson, type Json } from "../../base/json.ts";
import type { RunOutcome } from "../../engine/engine.ts";
import { withoutAbandoned } from "../../protocol/abandoned-work.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.ts";

type ReadLog = (runId: string) => Promise<readonly LoggedEvent[]>;

interface Used {
  readonly usage: Usage;
  /** Null as soon as one price is not known. */
  readonly costUsd: number | null;
}

/** Agents of a team are counted by their team (`multi-agent/team-outcome.ts`). */
export async function withSubagents(
  outcome: RunOutcome,
  runId: string,
  readLog: ReadLog,
): Promise<RunOutcome> {
  const below = await readBelow(runId, readLog);
  if (below.usage === NO_USAGE) return outcome;
  const events = outcome.events.map((event) =>
    event.type === "run_end"
      ? {
          ...event,
          usage: addUsage(event.usage, below.usage),
          cost_usd: addCost(event.cost_usd, below.costUsd),
        }
      : event,
  );
  const end = events.find(({ type }) => type === "run_end");
  return { ...outcome, events, result: asJson(end ?? outcome.result) };
}

/**
 * A child reports its own usage; the usage of the runs below it is in its own log. After a takeover, the end of a
 * child may be written again by the repeated call: each child counts once.
 */
async function readBelow(runId: string, readLog: ReadLog): Promise<Used> {
  const log = withoutAbandoned((await readLog(runId)).map(({ event }) => event));
  const team = new Set(
    log.flatMap((event) =>
      event.type === "child_start" && isTeamAgent(event.requested["agent"]) ? [event.child_id] : [],
    ),
  );
  let sum: Used = { usage: NO_USAGE, costUsd: 0 };
  for (const event of log) {
    if (event.type !== "child_end" || team.has(event.child_id)) continue;
    const below = await readBelow(event.child_id, readLog);
    sum = {
      usage: addUsage(sum.usage, addUsage(event.usage, below.usage)),
      costUsd: addCost(addCost(sum.costUsd, event.cost_usd), below.costUsd),
    };
  }
  return sum;
}

/** The name of such an agent is a path. */
function isTeamAgent(name: Json | undefined): boolean {
  return typeof name === "string" && name.startsWith("/");
}

function addCost(sum: number | null, more: number | null): number | null {
  return sum === null || more === null ? null : sum + more;
}
