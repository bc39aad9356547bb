/**
 * Every check of a call before it runs, in the order of `gate.ts`. The result is a decision to record, and
 * either the call as it will run or the reason why it will not.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import { type Json, tryParseJson } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import type { DecidedBy } from "../../protocol/run-events.ts";
import type { Tool } from "../tool.ts";
import { askIfNeeded, type Closed, forbid, type Memory } from "./ask-if-needed.ts";
import type { CallContext, Decision, GateParts } from "./call.ts";
import { decide } from "./decide.ts";
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
