/**
 * Decides about a call before any question: first by the rules, then by its effect. Pure, so that a table
 * of calls tests all of it.
 */

import { clip } from "../../base/text.ts";
import type { DecidedBy } from "../../protocol/run-events.ts";
import type { SandboxLevel } from "../sandbox/sandbox.ts";
import { EFFECTS, type Effect } from "../tool.ts";
import { fits, fitsUnread, type Rule, type RuleVerdict, type Touched } from "./rules.ts";

/** The ways to handle a call that needs approval: ask, allow it, refuse it. */
export const APPROVALS = ["ask", "auto", "deny"] as const;
export type Approval = (typeof APPROVALS)[number];

export interface Policy {
  readonly approve: Approval;
  readonly rules: readonly Rule[];
}

/** The parts of a call that matter for the decision. */
export interface DecidedCall extends Touched {
  readonly effect: Effect;
  /** The sandbox of its commands. */
  readonly level: SandboxLevel;
  /** A touched path that often contains keys, if there is one. */
  readonly sensitive: string | undefined;
  /** Why the tool itself asks for approval, if it does. */
  readonly costly: string | undefined;
  /** True if the tool is not the one that was approved. */
  readonly isChanged: boolean;
}

export interface CallVerdict {
  readonly verdict: RuleVerdict;
  readonly by: DecidedBy;
  readonly rule: Rule | undefined;
  readonly reason: string;
}

export function decide(call: DecidedCall, { approve, rules }: Policy): CallVerdict {
  const denied = findRule("deny", rules, call);
  if (denied) return denied;
  if (call.isChanged) {
    const reason = `\`${call.tool}\` has changed since it was approved`;
    return { verdict: approve === "deny" ? "deny" : "ask", by: "pin", rule: undefined, reason };
  }
  return findRule("ask", rules, call) ?? findRule("allow", rules, call) ?? byEffect(call, approve);
}

function findRule(
  verdict: RuleVerdict,
  rules: readonly Rule[],
  call: DecidedCall,
): CallVerdict | undefined {
  const rule = rules.find((one) => one.verdict === verdict && fits(one, call));
  if (!rule) return undefined;
  const reason = fitsUnread(rule, call) ? toUnread(rule, call) : REASONS[verdict](rule);
  return { verdict, by: "rule", rule, reason };
}

/** The reason for a rule that names no part of the call, so that the reader knows why it applies. */
function toUnread(rule: Rule, { commands = [] }: DecidedCall): string {
  const { verdict, text, source, about } = rule;
  // A pattern hides which paths are meant, but not the command.
  const hidden = about === "path" ? /[$`*?[{~]/ : /[$`]/;
  const word = commands.flat().find((one) => hidden.test(one));
  const what = word === undefined ? "the command" : `\`${clip(word, 60)}\``;
  return `${what} cannot be read in advance, so the rule \`${verdict} ${text}\` (${source}) applies`;
}

const REASONS: Readonly<Record<RuleVerdict, (rule: Rule) => string>> = {
  deny: ({ text, source }) => `the rule \`deny ${text}\` (${source}) refuses it`,
  ask: ({ text, source }) => `the rule \`ask ${text}\` (${source}) asks about it`,
  allow: ({ text, source }) => `the rule \`allow ${text}\` (${source}) allows it`,
};

function byEffect(call: DecidedCall, approve: Approval): CallVerdict {
  const why = whatToAsk(call);
  if (why === undefined) {
    const reason =
      call.effect === "execute" ? "it runs inside the sandbox" : EFFECTS[call.effect].summary;
    return { verdict: "allow", by: "effect", rule: undefined, reason };
  }
  if (approve === "ask") return { verdict: "ask", by: "effect", rule: undefined, reason: why };
  const [verdict, tail] =
    approve === "auto" ? (["allow", "approves it"] as const) : (["deny", "refuses it"] as const);
  return {
    verdict,
    by: "mode",
    rule: undefined,
    reason: `${why}; \`approve: ${approve}\` ${tail}`,
  };
}

function whatToAsk({ tool, effect, level, sensitive, costly }: DecidedCall): string | undefined {
  if (costly !== undefined) return costly;
  if (sensitive !== undefined) return `\`${sensitive}\` may hold keys`;
  if (!EFFECTS[effect].asks || (effect === "execute" && level === "sandbox")) return undefined;
  return `\`${tool}\` ${VERBS[effect]}`;
}

const VERBS: Readonly<Record<Effect, string>> = {
  read: "reads files",
  compute: "computes",
  own: "is a function of this program",
  write: "changes files",
  execute: "runs a command outside of the sandbox",
  network: "sends something to the network",
  delegate: "hands a task to a subagent",
  external: "runs a program that is not part of Offshoot",
};
