/**
 * The states of an agent of a team, as the run that started it knows them. Pure.
 *
 * | it is | what happens | and then it is |
 * |---|---|---|
 * | not there | `starts` | `running` |
 * | `running` | `answers` | `completed` |
 * | `running` | `fails`: an error, a limit, or its budget is used up | `failed` |
 * | `running` | `stops`: it was interrupted, or ended with its team | `interrupted` |
 * | `running` | `asks`: it needs client answers, for itself or an agent below it | `waiting_for_client` |
 * | `running` | another task | `running`: the task waits in a queue |
 * | `completed`, `failed`, `interrupted` | `starts`, with another task | `running` |
 * | `waiting_for_client` | `starts`, with the client's answers | `running` |
 * | `waiting_for_client` | `fails`: it has no budget to continue | `failed` |
 *
 * Every other change is a defect: an agent has one run at a time, and a run has one end.
 */

import { Failure } from "../../base/failure.ts";
import type { ChildReport } from "../../delegation/child.ts";

export type AgentState = "running" | "completed" | "failed" | "interrupted" | "waiting_for_client";

export type AgentChange = "starts" | "answers" | "fails" | "stops" | "asks";

const RESTS = { starts: "running" } as const;
const NEXT: Readonly<Record<AgentState, Partial<Record<AgentChange, AgentState>>>> = {
  running: {
    answers: "completed",
    fails: "failed",
    stops: "interrupted",
    asks: "waiting_for_client",
  },
  completed: RESTS,
  failed: RESTS,
  interrupted: RESTS,
  waiting_for_client: { starts: "running", fails: "failed" },
};

/** Throws for an impossible change. `now` is undefined for an agent that was never started. */
export function toNextState(now: AgentState | undefined, change: AgentChange): AgentState {
  const next = now === undefined ? RESTS : NEXT[now];
  const state =
    change in next ? (next as Partial<Record<AgentChange, AgentState>>)[change] : undefined;
  if (state) return state;
  throw new Failure("internal", `An agent that is ${now ?? "not there"} cannot change: ${change}.`);
}

/** The change that the end of its run means. */
export function toChange({ ending, waits }: Pick<ChildReport, "ending" | "waits">): AgentChange {
  if (ending === "cancelled") return "stops";
  if (ending !== "completed") return "fails";
  return waits ? "asks" : "answers";
}
