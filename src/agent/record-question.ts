/** Writes down that a call waits for a person, so that it can be answered from anywhere. */

import type { Clock } from "../base/clock.ts";
import type { RunContext } from "../engine/engine.ts";
import type { Question } from "../tools/gate/ask.ts";

interface Recording {
  readonly context: RunContext;
  readonly clock: Clock;
  readonly callId: string;
  /** The idempotency key of the call's step. */
  readonly key: string;
}

/** Called inside the call's step. Returns the question's name. */
export async function recordQuestion(
  { tool: name, child: asker, arguments: text, ...asked }: Omit<Question, "id">,
  { context, clock, callId: call_id, key }: Recording,
): Promise<string> {
  const question = await nameQuestion(context, key.slice(context.id.length + 1));
  const at_ms = clock.now();
  const { effect, reason, sandbox, always, waitMs } = asked;
  const until_ms = waitMs === null ? null : at_ms + waitMs;
  // Whole: arguments that are cut could be parsed as something else.
  const call = { call_id, name, arguments: text };
  const why = { effect, reason, sandbox, always };
  const event = { question, ...call, ...why, asker, until_ms, at_ms };
  await context.emit([{ type: "tool_question", ...event }]);
  return question;
}

/**
 * The step's key, so that an answer that was left while no process ran the run is found by the process that asks
 * again. After a decision the name changes: an answer that came too late for that decision must not count for the next
 * question.
 */
async function nameQuestion(context: RunContext, step: string): Promise<string> {
  if (!context.isTakeover) return step;
  const isOfStep = (name: string | undefined): boolean =>
    name !== undefined && (name === step || name.startsWith(`${step}#`));
  const log = await context.readLog();
  const decided = log.filter(
    ({ event }) => event.type === "tool_decision" && isOfStep(event.question),
  ).length;
  return decided === 0 ? step : `${step}#${decided}`;
}
