/**
 * Reads a run's own log for its team: which agents it has started, which events were copied, which answers were
 * passed on. Pure.
 */

import { findAbandoned } from "../../protocol/abandoned-work.ts";
import type { Item } from "../../protocol/items.ts";
import type { ChildEnd, ChildStart, LoggedEvent } from "../../protocol/run-events.ts";
import { ROOT } from "../fold/agent-name.ts";
import { createEventWriter } from "../fold/event-writer.ts";
import { agentOf, answeredBy, calledBy, findTasks } from "./team-history.ts";
import type { TakenAnswer } from "./team-messages.ts";

export interface TeamLog {
  /** The runs of started agents, oldest first, each once. */
  readonly starts: readonly ChildStart[];
  readonly ends: ReadonlyMap<string, ChildEnd>;
  /** The last copied number of each run's log. */
  readonly told: ReadonlyMap<string, number>;
  /** The ids of the messages that this run's agent has got. */
  readonly delivered: ReadonlySet<string>;
  /** All output so far, of all agents, and what the client answered meanwhile. */
  readonly output: readonly Item[];
  /** The client's answers to the calls of this run's last turn. */
  readonly answers: readonly Item[];
  /** True if the client has not answered all calls of that turn. */
  readonly isAsking: boolean;
  /** The last number of the first run's log up to which the client's answers are in this one. */
  readonly heard: number;
  /** All answers of the client in this log, with their numbers in the first run's log. */
  readonly taken: readonly TakenAnswer[];
  /** The keys of the client's messages that are in the log. */
  readonly handled: ReadonlySet<string>;
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
  const about = { ...readAnswers(log, me), ...readTaken(log) };
  const output = writer.said();
  const messages = output.filter(
    (item) => item.type === "agent_message" && (agentOf(item) ?? me) === me,
  );
  const delivered = new Set(messages.map((item) => String((item as { id?: unknown }).id)));
  return { starts: [...starts.values()], ends, told, delivered, output, ...about };
}

function readTaken(log: readonly LoggedEvent[]): Pick<TeamLog, "taken" | "handled"> {
  const taken: TakenAnswer[] = [];
  const handled = new Set<string>();
  for (const { seq, event } of log) {
    if (event.type !== "client_input" && event.type !== "client_refused") continue;
    if (event.key !== undefined) handled.add(event.key);
    if (event.type === "client_input") taken.push({ seq: event.root_seq ?? seq, event });
  }
  return { taken, handled };
}

/** Work that a takeover abandoned does not count: its calls are made again. */
function readAnswers(
  log: readonly LoggedEvent[],
  me: string,
): Pick<TeamLog, "answers" | "isAsking" | "heard"> {
  let answers: Item[] = [];
  let heard = -1;
  const open = new Set<string>();
  const abandoned = findAbandoned(log.map(({ event }) => event));
  for (const [at, { seq, event }] of log.entries()) {
    if (abandoned.has(at)) continue;
    if (event.type === "turn_start") {
      answers = [];
      open.clear();
    }
    const called = event.type === "item_end" ? calledBy(event.item) : undefined;
    if (called !== undefined) open.add(called);
    if (event.type !== "client_input") continue;
    heard = event.root_seq ?? seq;
    if (event.agent !== me) continue;
    answers.push(...event.items.filter((item) => open.delete(answeredBy(item) ?? "")));
  }
  return { answers, isAsking: open.size > 0, heard };
}

/** The call key of agents that continue with the client's answers, without a task. */
export const RESUMED = "resumed";

/** Tasks that were accepted and not begun, by agent. */
export function findLeft(
  tasks: readonly { readonly name: string; readonly message: string }[],
  starts: readonly ChildStart[],
): ReadonlyMap<string, string[]> {
  const left = new Map<string, string[]>();
  for (const { name, message } of tasks) left.set(name, [...(left.get(name) ?? []), message]);
  for (const start of starts) {
    if (!start.call_key.startsWith(RESUMED)) left.get(nameIn(start) ?? "")?.shift();
  }
  return new Map([...left].filter(([, messages]) => messages.length > 0));
}

/** The agent that a child was started as; undefined for a child that is not part of a team. */
export function nameIn({ requested }: ChildStart): string | undefined {
  const { agent } = requested;
  return typeof agent === "string" && agent.startsWith("/") ? agent : undefined;
}

/** All agents that were started, from the log of the team's first run, with their last tasks. */
export function findAgents(log: readonly LoggedEvent[]): ReadonlyMap<string, string> {
  const agents = new Map<string, string>();
  for (const { event } of log) {
    const [said, author] =
      event.type === "child_event" ? [event.event, event.agent] : [event, ROOT];
    if (said.type !== "tool_end" || said.failed) continue;
    const [call, answer] = said.shown ?? [];
    if (call?.type !== "multi_agent_call" || !answer) continue;
    for (const { name, message } of findTasks([call, answer], author)) agents.set(name, message);
  }
  return agents;
}
