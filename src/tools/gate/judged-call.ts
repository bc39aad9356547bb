/**
 * Takes one call through the gate, in this order: find the tool, parse the arguments, see what the call
 * touches, check the grant, decide by the rules, ask if they require it, take it from the budget, record
 * the decision, and only then run it, with limits on its time and its output.
 *
 * The model gets every problem of a call as its result, so that it can do better. Only a cancelled run
 * rejects.
 */

import { throwIfAborted, toAbortFailure } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { Redact } from "../../base/redact.ts";
import { cutToChars } from "../../base/text.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { KeepEvents } from "../changes/change-keeper.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { RunScope } from "../scope.ts";
import { type Effect, type Tool, type ToolContext, ToolOutput } from "../tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Memory } from "./ask-if-needed.ts";
import type { CallContext, GateParts, ToolResult } from "./call.ts";
import { grants } from "./grant.ts";
import { type Allowed, judge, toDecision } from "./judge.ts";
import { fits, NOTHING_TOUCHED, type ToolCall } from "./rules.ts";
import { type HookedCall, runToolHooks, withDenial } from "./tool-hooks.ts";

/** The state of a gate between calls. */
export interface GateMemory extends Memory {
  readonly scope: RunScope;
}

/** Rejects only if the run is cancelled. */
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

/** The result, with the reason of a hook that denied it. */
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

/** Runs the call with a workspace that records its changes, if they are kept. */
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

/** Errors of some tools begin with their own words. */
function refuse({ message }: Failure, { limits, redact }: GateParts): ToolResult {
  const text = toText(message, limits.outputChars, redact);
  const output = /^Error\b/.test(text) ? text : `Error: ${text}`;
  return { output, failed: true, thrown: false };
}

/**
 * True if the tool itself failed. A message about a wrong or forbidden call is an answer, and so is the
 * error of a subagent, whose parent continues.
 */
function hasThrown({ effect }: Tool, thrown: unknown): boolean {
  if (!(thrown instanceof Failure)) return true;
  return thrown.code === "tool_failed" && effect !== "delegate";
}

/** The sandbox of one call: every program is recorded before it starts. */
function tellStarts(sandbox: Sandbox, { starting }: CallContext): Sandbox {
  if (!starting) return sandbox;
  return { ...sandbox, start: (command) => sandbox.start({ ...command, onStart: starting }) };
}

/**
 * Checks hosts of redirects, which were not judged before. A rule that refuses or asks about the host stops
 * the call, and a call that was allowed for its host may only go to other allowed hosts.
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

/** Turns a tool's result into text for the model: within its limit, without keys. */
function toOutput(
  returned: Json | ToolOutput,
  maxChars: number,
  redact: Redact,
): string | readonly ContentPart[] {
  const { value, parts } =
    returned instanceof ToolOutput ? returned : { value: returned, parts: [] };
  const shown = toText(value, maxChars, redact);
  const shownParts = parts.map((part) => ("text" in part ? redactPart(part, redact) : part));
  return parts.length === 0 ? shown : [{ type: "input_text", text: shown }, ...shownParts];
}

/** Keys are removed first, because a key across the limit would be cut and no longer recognized. */
function toText(value: Json | undefined, maxChars: number, redact: Redact): string {
  if (typeof value === "string") return cut(redact(value), maxChars);
  // Inner texts are cleaned before they are escaped as JSON, which would hide a key with a quote in it.
  const clean = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "string" ? redact(inner) : inner,
  );
  return cut(clean ?? "", maxChars);
}

function redactPart<Part extends ContentPart>(part: Part, redact: Redact): Part {
  const text = (part as { readonly text?: unknown }).text;
  return typeof text === "string" ? { ...part, text: redact(text) } : part;
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = cutToChars(text, maxChars);
  return `${kept}\n[Output truncated: ${kept.length} of ${text.length} characters]`;
}

/** Runs a call within its time limit. A call that ignores its signal is abandoned. */
async function runLimited(
  { tool, input }: Allowed,
  context: ToolContext,
  timeoutMs: number,
): Promise<Json | ToolOutput> {
  const own = new AbortController();
  const seconds = Math.round(timeoutMs / 100) / 10;
  const timer = setTimeout(() => {
    const message = `\`${tool.spec.name}\` took longer than ${seconds} s.`;
    own.abort(new Failure("tool_failed", message));
  }, timeoutMs);
  const signal = AbortSignal.any([context.signal, own.signal]);
  let give: (() => void) | undefined;
  try {
    const cut = new Promise<never>((_, reject) => {
      give = () => reject(toAbortFailure(signal));
      signal.addEventListener("abort", give, { once: true });
      // A signal that is already aborted does not call its listeners.
      if (signal.aborted) give();
    });
    return await Promise.race([tool.run(input, { ...context, signal }), cut]);
  } finally {
    clearTimeout(timer);
    if (give) signal.removeEventListener("abort", give);
  }
}
