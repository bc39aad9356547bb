/** A tool call of a run, folded from the events after its start: who decided, what it returned. Pure. */

import { asJsonObject, type JsonObject } from "../../base/json.ts";
import {
  DECIDERS,
  type LoggedEvent,
  type RunEvent,
  type ToolDecision,
  type ToolEnd,
  type ToolStart,
} from "../../protocol/run-events.ts";
import type { ToolQuestion } from "../../protocol/tool-question.ts";
import type { CallStep, ChangeView, DecisionView } from "./step-views.ts";

/** Call it with the events after the call's start, in order, until it is `done`. */
export interface CallFold {
  read(logged: LoggedEvent): void;
  readonly done: boolean;
  toStep(changes: readonly ChangeView[]): CallStep;
}

export function createCallFold(start: LoggedEvent & { readonly event: ToolStart }): CallFold {
  const { run_id, seq, event: began } = start;
  /** Calls of the same id that were open before this one: servers give one id to several. */
  const others = 0;
  let end: ToolEnd | undefined;
  let isCut = false;
  let question: ToolQuestion | undefined;
  let processes = 0;
  const decisions: DecisionView[] = [];
  const isOwn = (event: RunEvent): boolean =>
    "call_id" in event && event.call_id === began.call_id && others === 0;
  return {
    get done() {
      return end !== undefined || isCut;
    },
    read({ event }) {
      if (event.type === "run_resume" || event.type === "run_end") isCut = end === undefined;
      if (!isOwn(event)) return;
      if (event.type === "tool_end") end = event;
      if (event.type === "tool_question") question = event;
      if (event.type === "tool_process") processes++;
      if (event.type === "tool_decision") decisions.push(toDecision(event));
    },
    toStep: (changes) => ({
      object: "run.step",
      kind: "call",
      run_id,
      seq,
      started_at_ms: began.at_ms,
      ended_at_ms: end?.at_ms ?? null,
      call_id: began.call_id,
      name: began.name,
      arguments: began.arguments,
      question: toQuestion(question),
      decisions,
      processes,
      changes,
      output: end?.item ?? null,
      failed: end?.failed ?? false,
      clipped: [],
    }),
  };
}

function toQuestion(question: ToolQuestion | undefined): JsonObject | null {
  if (!question) return null;
  const { type: _, arguments: __, ...asked } = question;
  return asJsonObject(asked);
}

function toDecision(event: ToolDecision): DecisionView {
  const { verdict, by, rule, source, reason, sandbox, hook = null, at_ms } = event;
  return { verdict, by, about: DECIDERS[by], rule, source, reason, sandbox, hook, at_ms };
}
