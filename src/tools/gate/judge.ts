/**
 * Everything that happens to a call before it runs, in the order of `gate.ts`. The outcome is a
 * decision to write down, and with it either the call as it will run, or why it will not.
 */

import { throwIfAborted } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { type Json, tryParseJson } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import type { DecidedBy } from "../../protocol/run-events.ts";
import type { Effect, Tool } from "../tool.ts";
import { type Always, toAlwaysRules } from "./always.ts";
import type { Answer } from "./ask.ts";
import type { CallContext, Decision, GateParts, ToolCall } from "./call.ts";
import { decide, type Verdict } from "./decide.ts";
import type { Rule } from "./rules.ts";
import { findUngranted, type Touch, touch } from "./touch.ts";

export type Judgement = Allowed | Denied;

export interface Allowed {
  readonly decision: Decision;
  readonly tool: Tool;
  readonly input: unknown;
  /** What let it through. */
  readonly rule: Rule | undefined;
  readonly refusal?: undefined;
}

interface Denied {
  readonly decision: Decision;
  readonly refusal: Failure;
}

/** What a gate remembers from call to call. */
export interface Memory {
  readonly always: Always;
  /** Of all runs of the tree. */
  readonly tree: Always;
}

/** Rejects only when the run is cancelled, by its signal or as the answer to a question. */
export async function judge(
  call: ToolCall,
  parts: GateParts,
  memory: Memory,
  { signal, take }: Pick<CallContext, "signal" | "take">,
): Promise<Judgement> {
  const { name } = call;
  const deny = (by: DecidedBy, refusal: Failure, rule?: Rule): Denied => ({
    decision: toDecision(parts, { verdict: "deny", by, rule, reason: refusal.message }),
    refusal,
  });

  const tool = parts.tools.find(({ spec }) => spec.name === name);
  if (!tool) return deny("tool", unknownTool(name, parts.tools));
  const parsed = parse(tool, call.arguments);
  if (parsed instanceof Failure) return deny("arguments", parsed);
  const { input } = parsed;

  const touched = await touch(tool, input, parts).catch(toFailure);
  if (touched instanceof Failure) return deny("arguments", touched);
  const effect = tool.effectOf?.(input) ?? tool.effect;
  const ungranted = findUngranted(parts.grant, effect, touched);
  if (ungranted !== undefined)
    return deny("grant", forbid(name, `this run was not granted ${ungranted}`));

  const standing = (await tool.pin?.standing()) ?? "agreed";
  const isChanged = standing === "changed";
  const { level } = parts.sandbox;
  const costly = tool.asksAbout?.(input);
  const verdict = decide({ ...touched, effect, level, costly, isChanged }, parts.policy);
  if (verdict.verdict === "deny")
    return deny(verdict.by, forbid(name, verdict.reason), verdict.rule);
  if (touched.blocked) return deny("guard", touched.blocked);

  const answered = await askIfNeeded({ call, effect, verdict, touched }, parts, memory, signal);
  if ("refusal" in answered) return deny(answered.by, answered.refusal, verdict.rule);

  const overspent = tryTake(take);
  if (overspent) {
    const reason = `${overspent.message.replace(/\.$/, "")}. Answer with what you have`;
    return deny("budget", forbid(name, reason));
  }
  if (standing !== "agreed") await tool.pin?.agree();
  const { by, reason } = answered;
  return {
    decision: toDecision(parts, { verdict: "allow", by, rule: verdict.rule, reason }),
    tool,
    input,
    rule: verdict.rule,
  };
}

type Answered =
  | { readonly by: DecidedBy; readonly reason: string }
  | { readonly by: DecidedBy; readonly refusal: Failure };

interface Asked {
  readonly call: ToolCall;
  readonly effect: Effect;
  readonly verdict: Verdict;
  readonly touched: Touch;
}

async function askIfNeeded(
  { call, effect, verdict, touched }: Asked,
  { ask, sandbox, asker }: GateParts,
  memory: Memory,
  signal: AbortSignal,
): Promise<Answered> {
  const { by, reason } = verdict;
  const { name } = call;
  if (verdict.verdict === "allow") return { by, reason };
  // What was said of the tool holds for what it does: not for a tool that is another one now, nor for
  // what a rule asks about, nor for files that may hold keys.
  const mayKnow = by === "effect" && touched.sensitive === undefined;
  const findKnown = (): string | undefined =>
    mayKnow ? (memory.always.find(call, touched) ?? memory.tree.find(call, touched)) : undefined;
  const known = findKnown();
  if (known !== undefined) return toKnown(known);
  if (!ask) {
    return {
      by: by === "pin" ? "pin" : "nobody",
      refusal: forbid(name, `${reason}, and there is no terminal to ask on`),
    };
  }
  const asked = { tool: name, arguments: call.arguments, effect, reason };
  const question = { child: asker ?? null, ...asked, always: toAlwaysRules(touched) };
  const putQuestion = (until: AbortSignal): Promise<Answer> =>
    ask({ ...question, sandbox: sandbox.level }, until);
  const answer = await askUntil(putQuestion, { memory, findKnown, signal });
  if (typeof answer === "object" && "known" in answer) return toKnown(answer.known);
  if (answer instanceof Failure) {
    return { by: "nobody", refusal: forbid(name, `nobody could be asked (${answer.message})`) };
  }
  if (answer === "cancel") throw new Failure("cancelled", "The user cancelled the run when asked.");
  if (answer === "no") {
    const refusal = new Failure("forbidden", `Tool call ${name} was denied by user`);
    return { by: "person", refusal };
  }
  if (answer === "always") memory.always.add(call, touched);
  if (answer === "tree") memory.tree.add(call, touched);
  const said = answer === "tree" ? "always, for the whole tree" : answer;
  return { by: "person", reason: `${reason}; the user was asked and said ${said}` };
}

function toKnown(rules: string): Answered {
  return { by: "person", reason: `the user always allows it (${rules})` };
}

interface Waiting {
  readonly memory: Memory;
  /** The rules that cover the call by now. */
  readonly findKnown: () => string | undefined;
  readonly signal: AbortSignal;
}

/** The answer; or what has settled the question meanwhile, as the same answer to another run's call. */
async function askUntil(
  ask: (signal: AbortSignal) => Promise<Answer>,
  { memory, findKnown, signal }: Waiting,
): Promise<Answer | Failure | { readonly known: string }> {
  const settled = new AbortController();
  const settle = (): void => {
    if (findKnown() !== undefined)
      settled.abort(new Failure("cancelled", "Another answer allows it."));
  };
  const stops = [memory.always, memory.tree].map((one) => one.onAdd(settle));
  try {
    const answer = await ask(AbortSignal.any([signal, settled.signal])).catch((thrown) => {
      throwIfAborted(signal);
      return toFailure(thrown);
    });
    const known = settled.signal.aborted ? findKnown() : undefined;
    return known === undefined ? answer : { known };
  } finally {
    for (const stop of stops) stop();
  }
}

function tryTake(take: () => void): Failure | undefined {
  try {
    take();
    return undefined;
  } catch (thrown) {
    return toFailure(thrown);
  }
}

function parse(tool: Tool, text: string): { readonly input: unknown } | Failure {
  try {
    return { input: tool.parse(parseArguments(tool.spec.name, text)) };
  } catch (thrown) {
    return toFailure(thrown);
  }
}

/** A call without arguments may come with an empty text. */
function parseArguments(name: string, text: string): Json {
  if (text.trim() === "") return {};
  const parsed = tryParseJson(text);
  if (parsed !== undefined) return parsed;
  throw new Failure("invalid_request", `The arguments of \`${name}\` are not JSON.`);
}

function unknownTool(name: string, tools: readonly Tool[]): Failure {
  const names = tools.map(({ spec }) => spec.name);
  const shown = clip(name, 80);
  const near = nearest(shown, names);
  const hint = near ? ` Did you mean \`${near}\`?` : "";
  const all = names.length > 0 ? names.join(", ") : "none";
  return new Failure("not_found", `There is no tool named \`${shown}\`.${hint} Tools: ${all}.`);
}

function forbid(name: string, reason: string): Failure {
  return new Failure("forbidden", `Tool call ${name} was denied: ${reason}.`);
}

interface Decided {
  readonly verdict: "allow" | "deny";
  readonly by: DecidedBy;
  readonly rule: Rule | undefined;
  readonly reason: string;
}

export function toDecision({ sandbox }: Pick<GateParts, "sandbox">, decided: Decided): Decision {
  const { verdict, by, rule, reason } = decided;
  return {
    verdict,
    by,
    rule: rule ? `${rule.verdict} ${rule.text}` : null,
    source: rule?.source ?? null,
    reason,
    sandbox: sandbox.level,
  };
}
