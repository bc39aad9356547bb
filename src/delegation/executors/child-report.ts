/** Makes the report of a child process from what was seen of it. Pure. */

import { type Amount, eachKind, NOTHING } from "../../agent/limits.ts";
import type { FailureCode } from "../../base/failure.ts";
import type { Ending, RunEnd } from "../../protocol/run-events.ts";
import { NO_USAGE } from "../../protocol/usage.ts";
import type { Exit } from "../../tools/sandbox/sandbox.ts";
import type { ChildOrder, ChildReport } from "../child.ts";
import type { Heard } from "./frame-reader.ts";

/** The observations of a child process, from its start to its end. */
export interface SeenChild {
  readonly heard: Heard;
  /** The child's last output on standard error, or why it did not start. */
  readonly said: string;
  /** Undefined if it did not exit by itself. */
  readonly exit: Exit | undefined;
  readonly why: ChildExit;
}

/** Why it was no longer watched. */
export type ChildExit =
  | "exited"
  | "delivered"
  | "broken"
  | "flooded"
  | "aborted"
  | "late"
  | "not_started";

export function toReport(id: string, order: ChildOrder, seen: SeenChild): ChildReport {
  const { heard } = seen;
  const { report } = heard;
  const { ending, message } = toEnding(order, seen);
  const isCompleted = ending === "completed";
  return {
    id,
    ending,
    message: isCompleted ? "" : message,
    error: isCompleted ? null : toError(ending, message, report),
    text: toText(order, heard),
    json: report?.output_json ?? heard.json,
    turns: report?.turns ?? heard.turns,
    toolCalls: report?.tool_calls ?? 0,
    usage: report?.usage ?? NO_USAGE,
    costUsd: report?.cost_usd ?? null,
    spent: toSpent(order, seen),
  };
}

interface Told {
  readonly ending: Ending;
  readonly message: string;
}

function toEnding(order: ChildOrder, seen: SeenChild): Told {
  const { heard, exit, why, said } = seen;
  const failed = (message: string): Told => ({ ending: "failed", message });
  switch (why) {
    case "not_started":
      return failed(said);
    case "flooded":
      return failed("Subagent wrote more than it may, and was ended.");
    case "broken":
      return failed("Subagent wrote something that is not a frame of its stream, and was ended.");
    case "late": {
      const seconds = order.timeoutMs / 1000;
      return { ending: "timeout", message: `Subagent did not end within ${seconds} s.` };
    }
    case "aborted":
      return { ending: "cancelled", message: "The run was cancelled." };
    case "exited":
    case "delivered":
      if (heard.over === "broken") return toEnding(order, { ...seen, why: "broken" });
      return toOwnEnding(heard, exit, said);
  }
}

/** For a child that exited by itself: what it reported, unless its exit code says otherwise. */
function toOwnEnding(heard: Heard, exit: Exit | undefined, said: string): Told {
  const { report, error, isWhole } = heard;
  const isCleanExit = exit === undefined || exit.code === 0;
  if (report && report.ending !== "completed") {
    return { ending: report.ending, message: describe(exit, report.message) };
  }
  if ((report || isWhole) && isCleanExit) return { ending: "completed", message: "" };
  const reason = error || said || "Its answer was cut short.";
  return { ending: "failed", message: describe(exit, reason) };
}

function describe(exit: Exit | undefined, reason: string): string {
  if (!exit) return reason;
  const how = exit.code === null ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
  return `Subagent ${how}: ${reason}`;
}

function toError(
  ending: Ending,
  message: string,
  report: RunEnd | undefined,
): ChildReport["error"] {
  const code: FailureCode = CODES[ending] ?? report?.error?.code ?? "tool_failed";
  return { code, message };
}

const CODES: Partial<Record<Ending, FailureCode>> = {
  timeout: "timeout",
  cancelled: "cancelled",
  budget: "budget_exceeded",
};

/**
 * A child that is asked for no summary answers with all it has said; otherwise the summary is the
 * answer.
 */
function toText({ task }: ChildOrder, { report, text }: Heard): string {
  return task.summary_prompt === null || !report ? text : report.output_text;
}

/**
 * If the child did not report its spending, all that was reserved counts as spent, so that no
 * budget is ever exceeded. A child that says nothing and exits with 2 has sent nothing.
 */
function toSpent({ account }: ChildOrder, { heard, exit, why }: SeenChild): Amount {
  const { report } = heard;
  if (report) {
    const { spent } = report;
    return eachKind((kind) => Math.max(0, Number(spent?.[kind]) || 0));
  }
  const isNothing = why === "not_started" || (heard.frames === 0 && exit?.code === 2);
  return isNothing ? NOTHING : eachKind((kind) => account.limits[kind] ?? 0);
}
