/**
 * The loop: ask the model, run the tools it calls, give the results back, until it calls none.
 *
 * Run code in the engine's sense: it repeats itself from the journal after a crash, so it reads no
 * clock and emits nothing outside steps, and every ending, good or bad, is returned, never thrown.
 */

import { Failure, toFailure } from "../base/failure.ts";
import { asJson } from "../base/json.ts";
import { plural } from "../base/text.ts";
import type { RunContext, RunOutcome } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import type { Notice } from "../protocol/run-events.ts";
import { NO_USAGE } from "../protocol/usage.ts";
import type { Gate } from "../tools/gate/gate.ts";
import { awaitChildren, endChildren, hearChildren } from "./background.ts";
import { findAbandonedTurns } from "./broken-answer.ts";
import { addResults, resultsOf } from "./calls.ts";
import { compactAfter } from "./context/keep-short.ts";
import { hear, hearTooLate } from "./inbox.ts";
import type { LoopParts } from "./loop-parts.ts";
import { createProgress, type RunProgress } from "./progress.ts";
import { asksForReport, turnsKept } from "./report.ts";
import { type End, toRunEnd } from "./run-end.ts";
import { toRunStart } from "./run-start.ts";
import { MAX_REPAIRS, toRepairRequest } from "./structured-output.ts";
import { takeTurn } from "./take-turn.ts";
import { type ModelAnswer, toAmount, whyRefused } from "./turn.ts";

/** The step of a run's start. What it returned is what the run was opened with. */
export const START_KEY = "start";

export async function runLoop(parts: LoopParts): Promise<RunOutcome> {
  const progress = createProgress(parts);
  try {
    const done = await begin(parts, progress);
    if (done) return done;
    while (hasTurnsLeft(parts, progress)) {
      await hearChildren(parts, progress);
      const answer = await takeTurn(parts, progress);
      const outcome = await continueFrom(parts, progress, answer);
      if (outcome) return await summarise(parts, progress, outcome);
    }
    await close(parts, progress);
    const limit = plural(parts.task.max_turns, "turn");
    const message = `The run stopped at its limit of ${limit}.`;
    const outcome = end(parts, progress, { ending: "max_turns", message });
    return await summarise(parts, progress, outcome);
  } catch (thrown) {
    await close(parts, progress);
    return endFailed(parts, progress, toFailure(thrown));
  }
}

/** Before an ending that nothing more is asked after. Never rejects. */
async function close(parts: LoopParts, progress: RunProgress): Promise<void> {
  await hearTooLate(parts, progress).catch(() => {});
  await endChildren(parts, progress);
  // The ending says what all of them have used, and the key pays for it.
  await parts.untilClosed?.();
}

function hasTurnsLeft({ task }: LoopParts, { turns }: RunProgress): boolean {
  return turns < task.max_turns - turnsKept(task);
}

/** The first event of the log, and after a takeover the one that says so. An outcome if that was all. */
async function begin(parts: LoopParts, progress: RunProgress): Promise<RunOutcome | undefined> {
  const { context, clock, wishes, opening } = parts;
  await context.step(START_KEY, async (step) => {
    // Nothing was done yet: after a loss of power it begins again.
    step.end([toRunStart(parts, clock.now())], "process");
    return opening ?? null;
  });
  progress.hasBegun = true;
  if (context.isTakeover) {
    const left = await endLeftovers(parts);
    await context.tell([{ type: "run_resume", epoch: context.epoch, at_ms: clock.now() }, ...left]);
    progress.abandoned = findAbandonedTurns(await context.readLog());
  }
  const begun = await wishes?.begin?.(progress.items);
  if (begun) progress.items = [...begun.items];
  if (!begun?.done) {
    await compactAfter(parts, progress, { usage: NO_USAGE, since: [] });
    return undefined;
  }
  progress.usage = begun.done.usage;
  progress.costUsd = begun.done.cost_usd;
  return end(parts, progress, { ending: "completed", waits: begun.waits });
}

/** Decides what an answer means for the run: an ending, or the next turn (undefined). */
async function continueFrom(
  parts: LoopParts,
  progress: RunProgress,
  answer: ModelAnswer,
): Promise<RunOutcome | undefined> {
  if (answer.reason === "refusal" || answer.reason === "length") await close(parts, progress);
  if (answer.reason === "refusal")
    return end(parts, progress, { ending: "refused", message: whyRefused(answer.items) });
  if (answer.reason === "length") return end(parts, progress, { ending: "budget", message: CUT });
  if (answer.reason === "pause") return undefined;
  const calls = parts.calls.findOwn(answer.items);
  let waits = parts.calls.waitsForClient(answer.items);
  let since: readonly Item[] = [];
  if (calls.length > 0) {
    await parts.context.rest();
    const onCall = (): void => void progress.toolCalls++;
    const calling = { ...parts, onCall, lastCall: toAmount(answer, parts) };
    const { runToolCalls } = await import("./tool-calls.ts");
    const made = await runToolCalls(calling, progress.turns, calls);
    waits ||= parts.calls.stops?.(made) ?? false;
    progress.items = addResults(progress.items, calls, made);
    since = resultsOf(made);
  }
  await compactAfter(parts, progress, { usage: answer.usage, since });
  if (waits) return await waitForClient(parts, progress);
  if (calls.length > 0 || (await awaitChildren(parts, progress))) return undefined;
  return finishOrRepair(parts, progress);
}

/** The run ends here, unless it is kept open until the client's answers have come. */
async function waitForClient(
  parts: LoopParts,
  progress: RunProgress,
): Promise<RunOutcome | undefined> {
  const items = await parts.calls.answered?.(progress.items, progress.turns);
  if (!items) return end(parts, progress, { ending: "completed", waits: true });
  progress.items = [...items];
  return undefined;
}

/**
 * Asks for the report, if there is to be one, without tools, so that the run cannot continue its work. It changes the
 * words of an outcome and never its ending; a report that fails leaves what there is.
 */
async function summarise(
  parts: LoopParts,
  progress: RunProgress,
  outcome: RunOutcome,
): Promise<RunOutcome> {
  const { task } = parts;
  if (!asksForReport(task, outcome.ending) || progress.turns >= task.max_turns) return outcome;
  const found = progress.text;
  progress.items.push({ type: "message", role: "user", content: task.summary_prompt ?? "" });
  progress.isReporting = true;
  try {
    const answer = await takeTurn(parts, progress);
    if (answer.reason !== "stop" || progress.text.trim() === "") progress.text = found;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (parts.context.signal.aborted || failure.code === "fenced") throw failure;
    progress.text = found;
    progress.notices.push({ type: "notice", code: "report", message: failure.message });
  }
  await hearTooLate(parts, progress);
  const { message } = outcome.events.at(-1) as { readonly message?: string };
  return end(parts, progress, { ending: outcome.ending, message: message ?? "" });
}

const CUT = "The answer was cut at its token limit.";

/** A document that does not fit goes back to the model with the reason, a few times. */
async function finishOrRepair(
  parts: LoopParts,
  progress: RunProgress,
): Promise<RunOutcome | undefined> {
  const checked = await parts.checkOutput(progress.text);
  if (checked.ok) {
    if (!hasTurnsLeft(parts, progress)) await hearTooLate(parts, progress);
    else if (await hear(parts, progress)) return undefined;
    return end(parts, progress, { ending: "completed", value: checked.value });
  }
  if (progress.repairs === MAX_REPAIRS) {
    const message = `The answer does not fit the schema after ${MAX_REPAIRS} repairs: ${checked.problem}`;
    throw new Failure("output_invalid", message);
  }
  progress.repairs++;
  const content = toRepairRequest(checked.problem);
  progress.items.push({ type: "message", role: "user", content });
  progress.notices.push({ type: "notice", code: "repair", message: checked.problem });
  return undefined;
}

function end(parts: LoopParts, progress: RunProgress, how: End): RunOutcome {
  const { clock, account } = parts;
  const event = toRunEnd(how, progress, { spent: account.spent, nowMs: clock.now() });
  const start = progress.hasBegun ? [] : [toRunStart(parts, clock.now())];
  const events = [...start, ...progress.notices, event];
  return { ending: how.ending, result: asJson(event), events };
}

/** Limits and cancelling keep what there is; a run that was taken over has no ending of its own. */
function endFailed(parts: LoopParts, progress: RunProgress, failure: Failure): RunOutcome {
  const { code, message, param } = failure;
  if (code === "fenced") throw failure;
  if (code === "budget_exceeded") return end(parts, progress, { ending: "budget", message });
  const ending = code === "cancelled" || code === "timeout" ? code : "failed";
  return end(parts, progress, { ending, error: { code, message, ...(param ? { param } : {}) } });
}

/** Ends the processes that commands of a run's earlier owner left running. */
interface LeftoverParts {
  readonly context: Pick<RunContext, "readLog">;
  readonly gate: Pick<Gate, "endLeftovers">;
}

/**
 * Ends them, because the same commands will be started again and would run at the same time. Returns a notice for each
 * that cannot be ended.
 */
async function endLeftovers({ context, gate }: LeftoverParts): Promise<Notice[]> {
  const log = await context.readLog();
  const started = log.flatMap(({ event }) => (event.type === "tool_process" ? [event] : []));
  return (await gate.endLeftovers(started)).map(({ pid }) => ({
    type: "notice",
    code: "process",
    message: `Process ${pid}, which this run started before it was interrupted, still runs and cannot be ended.`,
  }));
}
