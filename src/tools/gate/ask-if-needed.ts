/** Asks a person about a tool call that no rule decides, and keeps what was answered for later calls. */

import { throwIfAborted } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { DecidedBy } from "../../protocol/run-events.ts";
import type { Effect } from "../tool.ts";
import { type Always, toAlwaysRules } from "./always.ts";
import type { Answer, AnswerFromElsewhere, Denial } from "./ask.ts";
import type { CallContext, Decision, GateParts } from "./call.ts";
import type { CallVerdict } from "./decide.ts";
import type { ToolCall } from "./rules.ts";
import type { Touch } from "./touch.ts";

/** The memory of a gate between calls. */
export interface Memory {
  readonly always: Always;
  /** Shared by all runs of the tree. */
  readonly tree: Always;
}

/** The question that a decision closes, and the message with its answer. */
export type Closed = Pick<Decision, "question" | "answer">;

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

export async function askIfNeeded(
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

export function forbid(name: string, reason: string): Failure {
  return new Failure("forbidden", `Tool call ${name} was denied: ${reason}.`);
}
