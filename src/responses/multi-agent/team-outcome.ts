/** The outcome of a run that has a team. Pure. */

import type { Amount } from "../../agent/limits.ts";
import { asJson } from "../../base/json.ts";
import type { RunOutcome } from "../../engine/engine.ts";
import type { RunEnd } from "../../protocol/run-events.ts";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.ts";
import type { TeamLog } from "./team-log.ts";

/** True if it ended because the client has to answer its calls. */
export function isWaiting({ events }: RunOutcome): boolean {
  return events.some((event) => event.type === "run_end" && event.waits === true);
}

/** Adds the usage of the whole team. */
export function withTeam(outcome: RunOutcome, log: TeamLog, spent: Amount): RunOutcome {
  const { usage, costUsd } = usageBelow(log);
  return mapEnd(outcome, (end) => ({
    ...end,
    usage: addUsage(end.usage, usage),
    cost_usd: end.cost_usd === null || costUsd === null ? null : end.cost_usd + costUsd,
    spent: { ...spent },
  }));
}

/** The usage of the started agents, with all runs below them. */
function usageBelow({ starts, ends }: TeamLog): {
  readonly usage: Usage;
  readonly costUsd: number | null;
} {
  const ended = starts.flatMap(({ child_id }) => ends.get(child_id) ?? []);
  return {
    usage: ended.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    costUsd: ended.reduce<number | null>(
      (sum, { cost_usd }) => (sum === null || cost_usd === null ? null : sum + cost_usd),
      0,
    ),
  };
}

function mapEnd(outcome: RunOutcome, change: (end: RunEnd) => RunEnd): RunOutcome {
  const events = outcome.events.map((event) => (event.type === "run_end" ? change(event) : event));
  const end = events.find((event) => event.type === "run_end");
  return { ...outcome, events, result: asJson(end ?? outcome.result) };
}
