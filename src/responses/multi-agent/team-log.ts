/** What a run's own log tells of its team: whom it has started, what was told, what was handed on. Pure. */

import type { Item } from "../../protocol/items.ts";
import type { ChildEnd, ChildStart, LoggedEvent } from "../../protocol/run-events.ts";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.ts";
import { createEventWriter } from "../fold/event-writer.ts";
import { agentOf } from "./team-history.ts";

export interface TeamLog {
  /** The runs of agents that were started, oldest first, each once. */
  readonly starts: readonly ChildStart[];
  readonly ends: ReadonlyMap<string, ChildEnd>;
  /** The last number of each run's log that was told again. */
  readonly told: ReadonlyMap<string, number>;
  /** The messages that this run's agent has been given, by their ids. */
  readonly delivered: ReadonlySet<string>;
  /** All that was said so far, by everybody. */
  readonly output: readonly Item[];
}

export function readTeamLog(log: readonly LoggedEvent[], me: string): TeamLog {
  const starts = new Map<string, ChildStart>();
  const ends = new Map<string, ChildEnd>();
  const told = new Map<string, number>();
  const writer = createEventWriter({ everything: true });
  for (const { event } of log) {
    if (event.type === "child_start" && nameIn(event)) starts.set(event.child_id, event);
    if (event.type === "child_end") ends.set(event.child_id, event);
    if (event.type === "child_event") told.set(event.child_id, event.child_seq);
    writer.write(event);
  }
  const output = (writer.response()?.output ?? []) as unknown as Item[];
  const messages = output.filter(
    (item) => item.type === "agent_message" && (agentOf(item) ?? me) === me,
  );
  const delivered = new Set(messages.map((item) => String((item as { id?: unknown }).id)));
  return { starts: [...starts.values()], ends, told, delivered, output };
}

/** The agent that a child was started as; undefined for a child that is none of a team. */
export function nameIn({ requested }: ChildStart): string | undefined {
  const { agent } = requested;
  return typeof agent === "string" && agent.startsWith("/") ? agent : undefined;
}

/** What the agents that were started have used, with all below them. */
export function usageBelow({ starts, ends }: TeamLog): {
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
