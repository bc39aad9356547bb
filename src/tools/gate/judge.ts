/**
 * Every check of a call before it runs, in the order of `gate.ts`. The result is a decision to record, and
 * either the call as it will run or the reason why it will not.
 */

import { throwIfAborted } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { type Json, tryParseJson } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import type { DecidedBy } from "../../protocol/run-events.ts";
import type { Effect, Tool } from "../tool.ts";
import { type Always, toAlwaysRules } from "./always.ts";
import type { Answer, AnswerFromElsewhere, Denial } from "./ask.ts";
import type { CallContext, Decision, GateParts } from "./call.ts";
import { type CallVerdict, decide } from "./decide.ts";
import type { Rule, ToolCall } from "./rules.ts";
import { runToolHooks } from "./tool-hooks.ts";
import { findUngranted, type Touch, touch } from "./touch.ts";

export type Judgement = Allowed | Denied;

export interface Allowed {
  readonly touched: Touch;
  readonly decision: Decision;
  readonly tool: Tool;
  readonly input: unknown;
  /** The rule that allowed it. */
  readonly rule: Rule | undefined;
  readonly refusal?: undefined;
}

interface Denied {
  readonly decision: Decision;
  readonly refusal: Failure;
}

/** The memory of a gate between calls. */
export interface Memory {
  readonly always: Always;
  /** Shared by all runs of the tree. */
  readonly tree: Always;
}

/** Rejects only if the run is cancelled, by its signal or as the answer to a question. */
export async function judge(
  call: ToolCall,
  parts: GateParts,
  memory: Memory,
  context: Pick<CallContext, "signal" | "take" | "idempotencyKey" | "asked" | "notice">,
): Promise<Judgement> {
  const { name } = call;
  const deny = (by: DecidedBy, refusal: Failure, more: Partial<Decided> = {}): Denied => {
    const decided = { verdict: "deny", by, rule: undefined, reason: refusal.message } as const;
    return { decision: toDecision(parts, { ...decided, ...more }), refusal };
  };

  const tool = parts.tools.find(({ spec }) => spec.name === name);
  if (!tool) return deny("tool", unknownTool(name, parts.tools));
  await tool.load?.();
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
  const costly = await tool.asksAbout?.(input);
  const verdict = decide(
    { ...touched, effect, level: parts.sandbox.level, costly, isChanged },
    parts.policy,
  );
  if (verdict.verdict === "deny")
    return deny(verdict.by, forbid(name, verdict.reason), { rule: verdict.rule });
  if (touched.blocked) return deny("guard", touched.blocked);

  // Before the user is asked, so that a hook does not overrule a yes.
  const stopped = await runToolHooks("before_tool", { call, touched }, parts, context);
  if (stopped) {
    const { hook, reason } = stopped;
    return deny("hook", forbid(name, `hook ${hook} denied it: ${reason}`), { hook });
  }

  const asked = { call, effect, verdict, touched };
  const answered = await askIfNeeded(asked, parts, memory, context);
  const { by, reason, refusal, closed } = answered;
  if (refusal) return deny(by, refusal, { rule: verdict.rule, reason, ...closed });

  const overspent = await tryTake(context.take);
  if (overspent) {
    const why = `${overspent.message.replace(/\.$/, "")}. Answer with what you have`;
    return deny("budget", forbid(name, why), closed);
  }
  if (standing !== "agreed") await tool.pin?.agree();
  return {
    touched,
    decision: toDecision(parts, { verdict: "allow", by, rule: verdict.rule, reason, ...closed }),
    tool,
    input,
    rule: verdict.rule,
  };
}

/** The question that a decision closes, and the message with its answer. */
type Closed = Pick<Decision, "question" | "answer">;

interface Answered {
  readonly by: DecidedBy;
  /** The reason, for people. */
  readonly reason: string;
  /** The error for the model, if the call was denied. */
  readonly refusal?: Failure | undefined;
  readonly closed?: Closed | undefined;
}

interface Asked {
  readonly call: ToolCall;
  readonly effect: Effect;
  readonly verdict: CallVerdict;
  readonly touched: Touch;
}

async function askIfNeeded(
  { call, effect, verdict, touched }: Asked,
  { ask, waitMs, sandbox, asker, redact }: GateParts,
  memory: Memory,
  { signal, idempotencyKey, asked }: Pick<CallContext, "signal" | "idempotencyKey" | "asked">,
): Promise<Answered> {
  const { by, reason } = verdict;
  const { name } = call;
  if (verdict.verdict === "allow") return { by, reason };
  // `always` covers a tool by its effect: it does not cover a tool that has changed, a rule that asks, or
  // files that may contain keys.
  const mayKnow = by === "effect" && touched.sensitive === undefined;
  const findKnown = (): string | undefined =>
    mayKnow ? (memory.always.find(call, touched) ?? memory.tree.find(call, touched)) : undefined;
  const known = findKnown();
  if (known !== undefined) return toKnown(known);
  if (!ask) {
    const refusal = forbid(name, `${reason}, and there is no terminal to ask on`);
    return { by: by === "pin" ? "pin" : "nobody", reason: refusal.message, refusal };
  }
  const about = { child: asker ?? null, tool: name, effect, reason, sandbox: sandbox.level };
  const always = toAlwaysRules(touched);
  const meant = { arguments: call.arguments, always, asksEveryTime: !mayKnow };
  const question = { ...about, ...meant, waitMs: waitMs ?? null };
  let id: string | undefined;
  const putQuestion = async (until: AbortSignal): Promise<Said> => {
    // Recorded before anyone can see the question, so that an answer finds it.
    id = (await asked?.({ ...question, arguments: redact(call.arguments) })) ?? idempotencyKey;
    return await ask({ id, ...question }, until);
  };
  const settled = await askUntil(putQuestion, { memory, findKnown, signal });
  const closed = { question: id };
  if (typeof settled === "object" && "known" in settled) {
    return { ...toKnown(settled.known), closed };
  }
  if (settled instanceof Failure) {
    const refusal = toUnanswered(name, reason, settled);
    return { by: "nobody", reason: refusal.message, refusal, closed };
  }
  return takeAnswer(settled, { call, touched, reason, memory, closed, redact });
}

/** An answer, given here or elsewhere. */
type Said = Answer | Denial | AnswerFromElsewhere;

interface Answering extends Pick<Asked, "call" | "touched"> {
  readonly reason: string;
  readonly memory: Memory;
  readonly closed: Closed;
  readonly redact: GateParts["redact"];
}

/** The most characters of a user's reason that the model and the record get. */
const WORDS_CHARS = 4000;

function takeAnswer(
  given: Said,
  { call, touched, reason, memory, closed: { question }, redact }: Answering,
): Answered {
  const told: Partial<AnswerFromElsewhere> = typeof given === "string" ? { answer: given } : given;
  const { answer, key, from } = told;
  if (answer === "cancel") throw new Failure("cancelled", "The user cancelled the run when asked.");
  const closed = { question, answer: key };
  const where = from === undefined ? "" : ` in ${from}`;
  if (answer === "no") {
    const denied = `Tool call ${call.name} was denied by user`;
    const words = clip(redact(told.reason?.trim() ?? ""), WORDS_CHARS);
    const why = words === "" ? "" : `: ${words}`;
    const refusal = new Failure("forbidden", `${denied}${why}`);
    return { by: "person", reason: `${denied}${where}${why}`, refusal, closed };
  }
  if (answer === "always") memory.always.add(call, touched);
  if (answer === "tree") memory.tree.add(call, touched);
  const said = answer === "tree" ? "always, for the whole tree" : answer;
  return { by: "person", reason: `${reason}; the user was asked and said ${said}${where}`, closed };
}

function toUnanswered(name: string, reason: string, { code, message }: Failure): Failure {
  const why =
    code === "timeout" ? `${reason}, and ${message}` : `no user could be asked (${message})`;
  return forbid(name, why);
}

function toKnown(rules: string): Answered {
  return { by: "person", reason: `the user always allows it (${rules})` };
}

interface Waiting {
  readonly memory: Memory;
  /** The rules that cover the call now. */
  readonly findKnown: () => string | undefined;
  readonly signal: AbortSignal;
}

/** The answer, or the answer to another run's call that has settled this question meanwhile. */
async function askUntil(
  ask: (signal: AbortSignal) => Promise<Said>,
  { memory, findKnown, signal }: Waiting,
): Promise<Said | Failure | { readonly known: string }> {
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

async function tryTake(take: () => unknown): Promise<Failure | undefined> {
  try {
    await take();
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

/** A call without arguments may have an empty text. */
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
  return new Failure("not_found", `Unknown tool \`${shown}\`.${hint} Tools: ${all}.`);
}

function forbid(name: string, reason: string): Failure {
  return new Failure("forbidden", `Tool call ${name} was denied: ${reason}.`);
}

interface Decided extends Closed {
  readonly hook?: string | undefined;
  readonly verdict: "allow" | "deny";
  readonly by: DecidedBy;
  readonly rule: Rule | undefined;
  readonly reason: string;
}

export function toDecision({ sandbox }: Pick<GateParts, "sandbox">, decided: Decided): Decision {
  const { verdict, by, rule, reason, question, answer, hook } = decided;
  return {
    verdict,
    by,
    rule: rule ? `${rule.verdict} ${rule.text}` : null,
    source: rule?.source ?? null,
    reason,
    sandbox: sandbox.level,
    ...(question === undefined ? {} : { question }),
    ...(answer === undefined ? {} : { answer }),
    ...(hook === undefined ? {} : { hook }),
  };
}
