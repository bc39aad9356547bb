/**
 * The loop: ask the model, run the tools it calls, give the results back, until it calls none.
 *
 * Run code in the engine's sense: it repeats itself from the journal after a crash, so it reads no
 * clock and emits nothing outside steps, and every ending, good or bad, is returned, never thrown.
 */

import type { Clock } from "../base/clock.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { plural } from "../base/text.ts";
import type { RunContext, RunOutcome } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import type { Tool } from "../protocol/tools.ts";
import { NO_USAGE, type Usage } from "../protocol/usage.ts";
import type { Provider, Reasoning } from "../providers/provider.ts";
import type { Gate } from "../tools/gate/gate.ts";
import type { Account } from "./account.ts";
import { awaitChildren, type Background, endChildren, hearChildren } from "./background.ts";
import { findAbandonedTurns } from "./broken-answer.ts";
import { addResults, type Calls, resultsOf } from "./calls.ts";
import type { ContextKeeper } from "./context/context-keeper.ts";
import { compactBehind } from "./context/keep-short.ts";
import { hear, hearTooLate, type ReadInbox } from "./inbox.ts";
import { endLeftovers } from "./leftovers.ts";
import type { RequestWishes } from "./model-request.ts";
import { createProgress, type Progress } from "./progress.ts";
import { asksForReport, turnsKept } from "./report.ts";
import { type End, toRunEnd } from "./run-end.ts";
import { toRunStart } from "./run-start.ts";
import { type CheckOutput, MAX_REPAIRS, toRepairRequest } from "./structured-output.ts";
import { takeTurn } from "./take-turn.ts";
import type { AgentTask } from "./task.ts";
import type { ToolParts } from "./tool-calls.ts";
import { type Answer, toAmount, whyRefused } from "./turn.ts";

export interface LoopParts {
  readonly context: RunContext;
  readonly task: AgentTask;
  readonly provider: Provider;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly checkOutput: CheckOutput;
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
  readonly tellsCost?: boolean | undefined;
  /** Undefined where the model's window is not known. */
  readonly contextTokens: number | undefined;
  readonly reasoning: Reasoning;
  /** What the settings add to each request of the model, for the record. */
  readonly own?: JsonObject | undefined;
  /** What it may spend. */
  readonly account: Account;
  readonly spentBelow: ToolParts["spentBelow"];
  readonly findChildren?: ToolParts["findChildren"];
  /** Which calls the run makes itself. */
  readonly calls: Calls;
  /** Tools that the model's vendor runs, beside those of the gate. */
  readonly nativeTools?: readonly Tool[] | undefined;
  /** What the run's session holds before it; nothing for a run of none. */
  readonly before?: readonly Item[] | undefined;
  /** What the run is opened with, for the journal: a takeover has to find the same. */
  readonly opening?: Json | undefined;
  /** What is asked of the model beyond the task, and what the answer to a request shows of it. */
  readonly wishes?: ModelWishes | undefined;
  /** Keeps the conversation within bounds. */
  readonly keeper?: ContextKeeper | undefined;
  /** What is said to the run meanwhile, where that is not what people leave for it. */
  readonly inbox?: ReadInbox | undefined;
  /** Subagents that no call waits for; undefined where there can be none. */
  readonly backgroundChildren?: Background | undefined;
}

/** What a client of the Responses API may ask of a model beyond what an agent does. */
export interface ModelWishes extends RequestWishes {
  /** What the run's start says of the request. */
  readonly response: JsonObject;
  /** The conversation before the task's own items. */
  readonly before: readonly Item[];
  /** Awaited behind `run_start`: a run may have to wait for its turn, and to do things before it. */
  begin?(items: readonly Item[]): Promise<Begun>;
}

/** The step of a run's start. What it returned is what the run was opened with. */
export const START_KEY = "start";

/** What was done before the first turn. */
export interface Begun {
  /** The conversation that the first turn is asked with. */
  readonly items: readonly Item[];
  /** Set where nothing is left to ask the model: what was done has cost this. */
  readonly done?: Pick<Answer, "usage" | "cost_usd"> | undefined;
  /** Whether that is because somebody else has to answer first. */
  readonly waits?: boolean | undefined;
}

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
async function close(parts: LoopParts, progress: Progress): Promise<void> {
  await hearTooLate(parts, progress).catch(() => {});
  await endChildren(parts, progress);
}

function hasTurnsLeft({ task }: LoopParts, { turns }: Progress): boolean {
  return turns < task.max_turns - turnsKept(task);
}

/** The first event of the log, and after a takeover the one that says so. An outcome if that was all. */
async function begin(parts: LoopParts, progress: Progress): Promise<RunOutcome | undefined> {
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
    await compactBehind(parts, progress, { usage: NO_USAGE, since: [] });
    return undefined;
  }
  progress.usage = begun.done.usage;
  progress.costUsd = begun.done.cost_usd;
  return end(parts, progress, { ending: "completed", waits: begun.waits });
}

/** Decides what an answer means for the run: an ending, or the next turn (undefined). */
async function continueFrom(
  parts: LoopParts,
  progress: Progress,
  answer: Answer,
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
  await compactBehind(parts, progress, { usage: answer.usage, since });
  if (waits) return await waitForClient(parts, progress);
  if (calls.length > 0 || (await awaitChildren(parts, progress))) return undefined;
  return finishOrRepair(parts, progress);
}

/** The run ends here, unless somebody else keeps it open until the answers have come. */
async function waitForClient(
  parts: LoopParts,
  progress: Progress,
): Promise<RunOutcome | undefined> {
  const items = await parts.calls.answered?.(progress.items, progress.turns);
  if (!items) return end(parts, progress, { ending: "completed", waits: true });
  progress.items = [...items];
  return undefined;
}

/**
 * Asks for the report, if there is to be one, with no tools to go on with. It changes the words of an
 * outcome and never its ending; a report that fails leaves what there is.
 */
async function summarise(
  parts: LoopParts,
  progress: Progress,
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
  progress: Progress,
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

function end(parts: LoopParts, progress: Progress, how: End): RunOutcome {
  const { clock, account } = parts;
  const event = toRunEnd(how, progress, { spent: account.spent, nowMs: clock.now() });
  const start = progress.hasBegun ? [] : [toRunStart(parts, clock.now())];
  const events = [...start, ...progress.notices, event];
  return { ending: how.ending, result: event as unknown as Json, events };
}

/** Limits and cancelling keep what there is; a run that was taken over has no ending of its own. */
function endFailed(parts: LoopParts, progress: Progress, failure: Failure): RunOutcome {
  const { code, message, param } = failure;
  if (code === "fenced") throw failure;
  if (code === "budget_exceeded") return end(parts, progress, { ending: "budget", message });
  const ending = code === "cancelled" || code === "timeout" ? code : "failed";
  return end(parts, progress, { ending, error: { code, message, ...(param ? { param } : {}) } });
}
