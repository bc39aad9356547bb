/**
 * One call through the gate. In this order: find the tool, parse the arguments, see what the call touches,
 * hold it against the grant, decide by the rules, ask if that is what they say, take it from the budget,
 * write the decision down, and only then run it, with a limit on its time and its output.
 *
 * Whatever is wrong with a call is told to the model as its result, so that it can do better. Only a
 * cancelled run comes out as a rejection.
 */

import { throwIfAborted, toAbortFailure } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { KeepEvents } from "../changes/change-keeper.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Scope } from "../scope.ts";
import { type Effect, type Tool, ToolOutput } from "../tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CallContext, GateParts, ToolCall, ToolResult } from "./call.ts";
import { grants } from "./grant.ts";
import { type Allowed, judge, type Memory, toDecision } from "./judge.ts";
import { toOutput, toText } from "./output.ts";
import { fits, NOTHING_TOUCHED } from "./rules.ts";
import { runLimited } from "./run-limited.ts";
import { type HookedCall, runToolHooks, withDenial } from "./tool-hooks.ts";

/** What a gate keeps from call to call. */
export interface GateMemory extends Memory {
  readonly scope: Scope;
}

/** Rejects only when the run is cancelled. */
export async function callJudged(
  call: ToolCall,
  parts: GateParts,
  memory: GateMemory,
  context: CallContext,
): Promise<ToolResult> {
  throwIfAborted(context.signal);
  const judgement = await judge(call, parts, memory, context);
  await context.decided(judgement.decision);
  if (judgement.refusal) return refuse(judgement.refusal, parts);
  throwIfAborted(context.signal);
  const hooked = (result: ToolResult): Promise<ToolResult> =>
    runAfter(parts, { call, touched: judgement.touched, result }, context);
  try {
    return await hooked(await run(judgement, parts, memory, context));
  } catch (thrown) {
    if (context.signal.aborted) throw toAbortFailure(context.signal);
    const failure = toFailure(thrown);
    if (failure.code === "forbidden") {
      const { message: reason } = failure;
      const decided = { verdict: "deny", by: "guard", rule: undefined, reason } as const;
      await context.decided(toDecision(parts, decided));
    }
    return await hooked({ ...refuse(failure, parts), thrown: hasThrown(judgement.tool, thrown) });
  }
}

/** The result, with what a hook said of it. */
async function runAfter(
  parts: GateParts,
  after: HookedCall & { readonly result: ToolResult },
  context: CallContext,
): Promise<ToolResult> {
  const denial = await runToolHooks("after_tool", after, parts, context);
  return denial ? withDenial(after.result, denial) : after.result;
}

async function run(
  allowed: Allowed,
  parts: GateParts,
  { scope }: GateMemory,
  context: CallContext,
): Promise<ToolResult> {
  const { sandbox, limits, redact } = parts;
  const { signal, idempotencyKey } = context;
  const allowsHost = createHostCheck(parts, allowed);
  const tell = async (event: JsonObject): Promise<void> => {
    await context.tell?.(event);
  };
  const told = tellStarts(sandbox, context);
  const { timeoutMs = limits.timeoutMs } = allowed.tool;
  const returned = await runKept(parts, { allowed, keep: context.keepFiles }, (files) => {
    const kept = { workspace: files, sandbox: told, scope };
    const own = { allowsHost, signal, idempotencyKey, tell, mcpDepth: parts.mcpDepth };
    return runLimited(allowed, { ...kept, ...own }, timeoutMs);
  });
  const output = toOutput(returned, limits.outputChars, redact);
  if (!(returned instanceof ToolOutput)) return { output, failed: false, thrown: false };
  const { failed, details } = returned;
  return { output, failed, thrown: false, details };
}

/** Tools that start programs, or ask those of others. */
const STARTING: ReadonlySet<Effect> = new Set(["execute", "external"]);
/** Tools that may change files of the workspace themselves. */
const CHANGING: ReadonlySet<Effect> = new Set(["write", "own", "compute", ...STARTING]);

/** Runs the call with the workspace that keeps what it changes, where somebody wants that. */
async function runKept<Out>(
  { changes, workspace }: GateParts,
  { allowed, keep }: { readonly allowed: Allowed; readonly keep: KeepEvents | undefined },
  work: (workspace: Workspace) => Promise<Out>,
): Promise<Out> {
  const { tool, input } = allowed;
  const effect = tool.effectOf?.(input) ?? tool.effect;
  const isKept = changes && keep && !tool.readOnly && CHANGING.has(effect);
  if (!isKept) return await work(workspace);
  return await changes.around({ startsPrograms: STARTING.has(effect), keep }, work);
}

/** Some tools' own words for a failure begin so. */
function refuse({ message }: Failure, { limits, redact }: GateParts): ToolResult {
  const text = toText(message, limits.outputChars, redact);
  const output = /^Error\b/.test(text) ? text : `Error: ${text}`;
  return { output, failed: true, thrown: false };
}

/**
 * Whether the tool itself could not do it. What it says of a call that is wrong, or that is not allowed, is
 * an answer; so is the error of a subagent, whose parent goes on.
 */
function hasThrown({ effect }: Tool, thrown: unknown): boolean {
  if (!(thrown instanceof Failure)) return true;
  return thrown.code === "tool_failed" && effect !== "delegate";
}

/** The sandbox as one call has it: the record knows what is started before it starts. */
function tellStarts(sandbox: Sandbox, { starting }: CallContext): Sandbox {
  if (!starting) return sandbox;
  return { ...sandbox, start: (command) => sandbox.start({ ...command, onStart: starting }) };
}

/**
 * A redirect leads to a host that was not judged: what refuses or asks about it stops the call there,
 * and a call that is let through for its host goes to hosts alone that are let through too.
 */
function createHostCheck(
  { grant, policy }: GateParts,
  { tool, rule }: Allowed,
): (host: string) => boolean {
  const isForHost = rule?.verdict === "allow" && rule.about !== "all";
  return (host) => {
    const touched = { ...NOTHING_TOUCHED, tool: tool.spec.name, hosts: [host] };
    const fitting = policy.rules.filter((one) => one.about !== "all" && fits(one, touched));
    const isStopped = fitting.some(({ verdict }) => verdict !== "allow");
    const isLet = !isForHost || fitting.some(({ verdict }) => verdict === "allow");
    return grants(grant, "hosts", host) && !isStopped && isLet;
  };
}
