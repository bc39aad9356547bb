/**
 * `parallel_subagent`: gives several tasks to runs of their own, some at once. Every task has a
 * result, in the order of the tasks, also if it was refused, cancelled or never begun. All tasks
 * are checked before the first is started.
 */

import { setMaxListeners } from "node:events";
import { mapConcurrent, throwIfAborted } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { type Tool, type ToolContext, ToolOutput } from "../../tools/tool.ts";
import { readAgentWish } from "../agents/agent-wish.ts";
import type { ChildReport, ChildWish } from "../child.ts";
import { type Envelope, toEnvelope, toErrorEnvelope, toOpenEnvelope } from "../envelope.ts";
import type { DelegationNode } from "../node.ts";
import type { Spawning } from "../run-child.ts";
import type { DelegationSettings } from "../settings.ts";
import { toChildId } from "../spawn.ts";
import { tellEnding } from "../tell-ending.ts";
import { countTasks, NO_TIMEOUT_MS, toMostConcurrent, toParallelSpec } from "./specs.ts";
import { readWish, runChild, toKey } from "./subagent.ts";

interface Order {
  readonly wishes: readonly ChildWish[];
  readonly maxConcurrent: number;
  readonly isFailFast: boolean;
}

/** The result of one task, as the model reads it. */
interface TaskResult {
  readonly label: string;
  readonly success: boolean;
  readonly output: string;
  readonly duration_ms: number;
  readonly error: string | null;
  /** The tokens of the child and of everything below it. */
  readonly tokens_used: number;
  /** `asks`: it waits for an answer, and continues without this call. */
  readonly completion_status: "complete" | "incomplete" | "asks";
  /** For partial work: what ended it. */
  readonly incomplete_reason?: string | undefined;
  /** For a task that asks. */
  readonly subagent_id?: string | undefined;
}

export function createParallelSubagentTool(node: DelegationNode): Tool {
  return {
    spec: toParallelSpec(node),
    // At the same time as other calls of its turn, as `subagent`.
    readOnly: true,
    effect: "delegate",
    countChildren: countTasks,
    timeoutMs: NO_TIMEOUT_MS,
    asksAbout: (input) => node.asksAbout((input as Order).wishes),
    parse: (input) => readOrder(input, node),
    async run(input, context) {
      const startedMs = node.now();
      const results = await runAll(node, input as Order, context);
      const successful = results.filter(({ success }) => success).length;
      const failed = results.length - successful;
      const total_duration_ms = node.now() - startedMs;
      const answer = { results: results.map((result) => ({ ...result })), total_duration_ms };
      return new ToolOutput({ ...answer, successful, failed }, [], { failed: successful === 0 });
    },
  };
}

const FIELDS = ["tasks", "max_concurrent", "fail_fast"];

/** Names every problem of every task at once, so that the model can fix all of them together. */
function readOrder(input: Json, node: DelegationNode): Order {
  if (!isJsonObject(input)) throw invalid("Invalid input: the arguments must be an object");
  const extra = Object.keys(input).find((name) => !FIELDS.includes(name));
  if (extra !== undefined) throw invalid(`Invalid input: unknown field \`${clip(extra, 40)}\``);
  const { tasks, max_concurrent, fail_fast } = input;
  if (tasks !== undefined && tasks !== null && !Array.isArray(tasks)) {
    throw invalid("Invalid input: `tasks` must be a list");
  }
  const given: readonly Json[] = Array.isArray(tasks) ? tasks : [];
  if (given.length === 0) throw invalid("At least one task required");
  return {
    wishes: readTasks(given, node),
    maxConcurrent: readConcurrent(max_concurrent, node.settings),
    isFailFast: readFailFast(fail_fast),
  };
}

function readTasks(tasks: readonly Json[], node: DelegationNode): ChildWish[] {
  const parent = { agents: node.agents, tools: node.task.tools };
  const problems: string[] = [];
  const wishes = tasks.flatMap((task, at) => {
    try {
      return [readAgentWish(task, (rest) => readWish(rest, node), parent)];
    } catch (thrown) {
      problems.push(`tasks[${at}]: ${toFailure(thrown).message}`);
      return [];
    }
  });
  const labels = wishes.map(({ label }) => label);
  const twice = new Set(labels.filter((label, at) => labels.indexOf(label) !== at));
  for (const label of twice) problems.push(`Duplicate label: ${clip(label, 64)}`);
  if (problems.length > 0) throw invalid(problems.join("; "));
  return wishes;
}

function readConcurrent(given: Json | undefined, settings: DelegationSettings): number {
  if (given === undefined || given === null) return settings.maxParallel;
  const most = toMostConcurrent(settings);
  const isWhole = typeof given === "number" && Number.isInteger(given);
  if (isWhole && given >= 1 && given <= most) return given;
  throw invalid(`max_concurrent must be between 1 and ${most}`);
}

function readFailFast(given: Json | undefined): boolean {
  if (given === undefined || given === null) return false;
  if (typeof given === "boolean") return given;
  throw invalid("Invalid input: `fail_fast` must be true or false");
}

/** Waits for every task, even when the run is cancelled: what each has spent is settled then. */
async function runAll(
  node: DelegationNode,
  { wishes, maxConcurrent, isFailFast }: Order,
  context: ToolContext,
): Promise<TaskResult[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  // Each child adds a listener; Node would warn the user of more than ten.
  setMaxListeners(0, signal);
  let failed: string | undefined;
  // Children that wait for a place of this call have their share too.
  node.account.family.announce(context.idempotencyKey, wishes.length);
  const { idempotencyKey: callKey } = context;
  const keys = wishes.map(({ label }, at) => toKey(label, `${callKey}.${at}`));
  const waiting = wishes.map(({ label }, at) => ({
    callKey,
    label,
    child_id: toChildId(node, { key: keys[at] ?? "" }),
  }));
  node.queue.wait(waiting.slice(maxConcurrent), "place");
  const results = await mapConcurrent(wishes, maxConcurrent, async (wish, at) => {
    const startedMs = node.now();
    if (signal.aborted) return toStopped(wish, `Not started: ${whyStopped(failed)}`);
    const { executor } = node.settings;
    const spawning = { callKey, key: keys[at] ?? "", executor, signal };
    const ran = await runTask(node, wish, spawning);
    const result = toResult(ran, node.now() - startedMs);
    if (signal.aborted && ran.isCancelled) {
      return { ...result, error: `Cancelled: ${whyStopped(failed)}` };
    }
    if (isFailFast && !result.success && failed === undefined) {
      failed = wish.label;
      stop.abort(new Failure("cancelled", whyStopped(failed)));
    }
    return result;
  });
  for (const { child_id } of waiting) node.queue.leave(child_id);
  throwIfAborted(context.signal);
  return results;
}

function whyStopped(failed: string | undefined): string {
  return failed === undefined ? "the run was cancelled" : `\`${failed}\` failed (fail_fast)`;
}

function toStopped({ label }: ChildWish, error: string): TaskResult {
  const none = { success: false, output: "", duration_ms: 0, tokens_used: 0 };
  return { label, ...none, error, completion_status: "incomplete" };
}

interface Ran {
  readonly label: string;
  readonly envelope: Envelope;
  /** Undefined if nothing was started. */
  readonly report: ChildReport | undefined;
  readonly isCancelled: boolean;
}

/** Never rejects: the failure of one task does not affect the others. */
async function runTask(node: DelegationNode, wish: ChildWish, spawning: Spawning): Promise<Ran> {
  const { observe, settings } = node;
  const { label } = wish;
  const named = { label, depth: node.task.depth + 1 };
  try {
    const run = await runChild(node, wish, spawning);
    if (!run.report) {
      return { label, envelope: toOpenEnvelope(named, run), report: undefined, isCancelled: false };
    }
    const { report } = run;
    const envelope = toEnvelope(named, report, {
      maxBytes: settings.outputMaxSize,
      isRecorded: node.isRecorded,
      observe,
    });
    const ran = { label, envelope, report, isCancelled: report.ending === "cancelled" };
    tellEnding(node, named, ran);
    return ran;
  } catch (thrown) {
    const { code, message } = toFailure(thrown);
    observe({ event: "error", ...named, error: message });
    const envelope = toErrorEnvelope(named, message);
    return { label, envelope, report: undefined, isCancelled: code === "cancelled" };
  }
}

function toResult({ label, envelope, report }: Ran, duration_ms: number): TaskResult {
  const { success, output, error, metadata } = envelope;
  const { completion_status, incomplete_reason, subagent_id } = metadata;
  // The usage of an interrupted call is not known; the account has what was reserved for it.
  const tokens_used = report ? Math.max(report.usage.total_tokens, report.spent.tokens) : 0;
  const done = { label, success, output, duration_ms, error, tokens_used };
  if (completion_status === "asks") return { ...done, completion_status, subagent_id };
  const status = completion_status === "complete" ? "complete" : "incomplete";
  return {
    ...done,
    completion_status: status,
    ...(incomplete_reason === undefined ? {} : { incomplete_reason }),
  };
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
