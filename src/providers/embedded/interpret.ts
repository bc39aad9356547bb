/**
 * The embedded model's mind: a request in, a reply out, nothing else touched. The same request gets
 * the same reply.
 *
 * A turn is decided from the start each time: which intents match, how far their plans get with the
 * outputs that are there, and what to say or call next.
 */

import type { JsonObject } from "../../base/json.ts";
import { isLarge } from "../../base/json-pieces.ts";
import { plural } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelRequest } from "../provider.ts";
import {
  type Conversation,
  type MadeCall,
  readAsked,
  readConversation,
  toText,
} from "./conversation.ts";
import { countTokens } from "./count-tokens.ts";
import { answerMissingTool, answerUnchosen, answerUnknown, answerUnknownTool } from "./fallback.ts";
import { promptsOf, toRecap } from "./intents/delegating.ts";
import type { Answer, Match, Plan, ToolRequest } from "./intents/intent.ts";
import { matchRequest } from "./match-request.ts";
import { withPlainNames } from "./plain-names.ts";
import { type Reply, toReply } from "./reply.ts";
import { canonical } from "./schema/shape.ts";
import { isRefusal } from "./tool-results.ts";
import {
  answerFromCalls,
  findFittingTool,
  findForcedTool,
  findMissingTool,
  findNamedTool,
  type ToolUse,
  toCall,
} from "./use-tool.ts";
import { type Decided, makeUpAnswer, writeAnswer } from "./write-answer.ts";

/**
 * What becomes of a request that cannot be answered: it is refused; or, for a test double that must answer
 * every request, something that fits is made up.
 */
export type Unknown = "refuse" | "make_up";

export interface Stance {
  readonly unknown?: Unknown | undefined;
  /** Whether nobody has chosen this model: it then fills no schema. False when left out. */
  readonly isFallback?: boolean | undefined;
}

export function interpret(asked: ModelRequest, stance: Stance = {}): Reply {
  const { unknown = "refuse", isFallback = false } = stance;
  const { request, offeredAs, inTheirWords } = withPlainNames(asked);
  const conversation = readConversation(request);
  const isUnchosen = isFallback && request.format.type !== "text";
  const { step, why } = isUnchosen ? leaveUnfilled(conversation) : decide(request, conversation);
  const { effort } = request.reasoning;
  const reasoning = effort === undefined || effort === "none" ? undefined : why;
  const calls = step.calls
    .slice(0, request.parallel_tool_calls === false ? 1 : undefined)
    .map((call) => ({ ...call, name: offeredAs(call.name) }));
  const write = unknown === "refuse" ? writeAnswer : makeUpAnswer;
  const { text, refusal } = step.decided ? write(step.decided, request, conversation) : {};
  const draft = {
    ...{ reasoning, calls },
    text: text && inTheirWords(text),
    refusal: refusal && inTheirWords(refusal),
  };
  return toReply(draft, countInput(asked), request.max_output_tokens);
}

/** What to do next: calls, or an answer. */
interface Step {
  readonly calls: readonly ToolRequest[];
  readonly decided: Decided | undefined;
}

interface Decision {
  readonly step: Step;
  /** One or two sentences on what was matched and why, for the reasoning. */
  readonly why: string;
}

/** Before any call: what it would do is of no use to whoever waits for a document. */
function leaveUnfilled(conversation: Conversation): Decision {
  const why = "A schema is to be filled, and nobody has chosen this model: I fill none.";
  return { step: refuse(answerUnchosen(conversation)), why };
}

function decide(request: ModelRequest, conversation: Conversation): Decision {
  if (asksForMemory(request)) {
    const step = say({ text: toMemory(request) });
    return { step, why: "A conversation is to be made shorter: I keep its end, word for word." };
  }
  const matches = matchRequest(conversation);
  const planned = matches.length > 0 ? runPlans(matches, request, conversation) : undefined;
  const forced = findForcedTool(request.tool_choice, conversation);
  if (forced) return { step: useTool(forced, planned, conversation), why: explainUse(forced) };
  const named = findNamedTool(conversation);
  if (named && !planned)
    return { step: useTool(named, planned, conversation), why: explainUse(named) };
  if (planned) return { step: planned, why: explainMatches(matches, planned) };
  const fitting = findFittingTool(conversation);
  if (fitting) return { step: useTool(fitting, planned, conversation), why: explainUse(fitting) };
  return decideWithoutPlan(request, conversation);
}

function decideWithoutPlan(request: ModelRequest, conversation: Conversation): Decision {
  const { calls } = conversation;
  if (calls.some(({ output }) => output !== undefined)) {
    return {
      step: tellCalls(calls),
      why: "No intent matches, but tools were called: I tell what they gave.",
    };
  }
  if (asksForReport(request, conversation)) {
    return {
      step: say(toRecap(conversation)),
      why: "The work is over and a report is asked for: I say my last answer again.",
    };
  }
  const missing = findMissingTool(conversation);
  if (missing !== undefined) {
    const step = refuse(answerUnknownTool(missing, request));
    return { step, why: `The request names the tool \`${missing}\`, which is not offered.` };
  }
  return {
    step: { calls: [], decided: { answer: answerUnknown(conversation), outcome: "unknown" } },
    why: "No intent matches the request, so I say what I can do.",
  };
}

/** A server that compacts a conversation asks for it in these words (`responses/compaction`). */
function asksForMemory({ instructions }: ModelRequest): boolean {
  return /^You write the memory of a conversation\b/.test(instructions ?? "");
}

const MAX_MEMORY_CHARS = 4000;

/** Nothing is put in other words: the end of the conversation is what is needed next. */
function toMemory(request: ModelRequest): string {
  const whole = readAsked(request).join("\n").trim();
  return whole.length > MAX_MEMORY_CHARS ? `…${whole.slice(-MAX_MEMORY_CHARS)}` : whole;
}

const REPORT =
  /\b(summar\w*|reports?|findings?|results?|answers?|conclu\w*|numbers?|outcome|recap|concise\w*|brief\w*|found)\b/i;

/**
 * A loop asks for the report in words of anybody's making, and takes the tools away. Whoever had tools
 * and has them no more is surely asked for that; else the words must say so.
 */
function asksForReport({ tools }: ModelRequest, { asked, before }: Conversation): boolean {
  if (tools.length > 0) return false;
  return before.calls.length > 0 || (before.said !== undefined && REPORT.test(asked.join("\n")));
}

/** Runs each plan as far as it gets; the first that needs calls decides the turn. */
function runPlans(
  matches: readonly Match[],
  request: ModelRequest,
  conversation: Conversation,
): Step {
  const answers: Answer[] = [];
  const outputs = collectOutputs(conversation);
  for (const [index, match] of matches.entries()) {
    // "Copy a to b, then delete a": what was refused must not be built on.
    if (match.intent.acts && answers.some(({ failed }) => failed)) {
      const left = matches.length - index;
      const text = `After that I did not go on: ${plural(left, "step")} left out.`;
      answers.push({ text, declined: true });
      break;
    }
    const plan = match.plan();
    const next = "text" in plan ? plan : replay(plan, outputs);
    if ("text" in next) {
      answers.push(next);
      continue;
    }
    const missing = next.find(({ name }) => !conversation.tools.some((tool) => tool.name === name));
    if (missing) return refuse(answerMissingTool(missing.name, match.intent, request));
    // A subagent would be given words that it does not understand either.
    if (!next.every((call) => canBeHandedOn(call, conversation)))
      return refuse(answerUnknown(conversation));
    return { calls: next, decided: undefined };
  }
  const data: JsonObject = Object.assign({}, ...answers.map((answer) => answer.data ?? {}));
  const text = answers.map((answer) => answer.text).join("\n\n");
  // What one step has read does not answer for another that went wrong.
  const isSound = !answers.some(({ failed }) => failed);
  const material = isSound ? answers.flatMap((answer) => answer.material ?? []) : [];
  const whole = { text, data, material };
  return answers.length > 0 && answers.every(({ declined }) => declined)
    ? refuse(whole)
    : say(whole);
}

/** Whether each prompt for a subagent is one that this model would understand. */
function canBeHandedOn(call: ToolRequest, conversation: Conversation): boolean {
  return promptsOf(call).every(
    (prompt) => matchRequest({ ...conversation, asked: [prompt], order: prompt }).length > 0,
  );
}

/** What each call gave, in the order of the calls: one that is made twice gives two outputs. */
type Outputs = ReadonlyMap<string, string[]>;

function collectOutputs({ calls }: Conversation): Outputs {
  const outputs = new Map<string, string[]>();
  for (const call of calls) {
    if (call.output === undefined) continue;
    const key = toCallKey(call);
    outputs.set(key, [...(outputs.get(key) ?? []), call.output]);
  }
  return outputs;
}

/**
 * Feeds a plan the outputs that are there; gives the calls it still waits for, or its answer. Each step
 * takes outputs of its own: what an earlier step read may have changed since, and what it did must be
 * done again when it is asked for again.
 */
function replay(plan: Plan, outputs: Outputs): readonly ToolRequest[] | Answer {
  let step = plan.next([]);
  while (!step.done) {
    const wanted = new Map(step.value.map((call) => [toCallKey(call), call]));
    const taken = new Map([...wanted.keys()].map((key) => [key, outputs.get(key)?.shift()]));
    const open = [...wanted].filter(([key]) => taken.get(key) === undefined);
    if (open.length > 0) return open.map(([, call]) => call);
    step = plan.next(step.value.map((call) => taken.get(toCallKey(call)) ?? ""));
  }
  return step.value;
}

function toCallKey(call: ToolRequest): string {
  return `${call.name} ${canonical(call.arguments)}`;
}

/** A plan that uses the tool knows its arguments best; else they are built, once. */
function useTool(use: ToolUse, planned: Step | undefined, conversation: Conversation): Step {
  const { name } = use.tool;
  const own = planned?.calls.filter((call) => call.name === name) ?? [];
  if (own.length > 0) return { calls: own, decided: undefined };
  const made = conversation.calls.filter((call) => call.output !== undefined);
  if (!made.some((call) => call.name === name)) {
    return { calls: [toCall(use, conversation)], decided: undefined };
  }
  return planned?.decided ? planned : tellCalls(made);
}

/** Where none of them gave anything, nothing was done. */
function tellCalls(calls: readonly MadeCall[]): Step {
  const answer = answerFromCalls(calls);
  const isDone = calls.some(({ output }) => output !== undefined && !isRefusal(output));
  return isDone ? say(answer) : refuse(answer);
}

function say(answer: Answer): Step {
  return { calls: [], decided: { answer, outcome: "answered" } };
}

function refuse(answer: Answer): Step {
  return { calls: [], decided: { answer, outcome: "refused" } };
}

function explainUse({ tool, reason }: ToolUse): string {
  return `I use the tool \`${tool.name}\` because ${reason}.`;
}

function explainMatches(matches: readonly Match[], { calls }: Step): string {
  const found = matches.map(({ intent, slots }) => {
    const values = Object.entries(slots).map(([slot, value]) => `${slot} is "${value}"`);
    return `"${intent.name}" (${[intent.summary, ...values].join("; ")})`;
  });
  const names = [...new Set(calls.map(({ name }) => `\`${name}\``))];
  const next =
    names.length > 0
      ? `The next step is to call ${names.join(" and ")}.`
      : "Everything needed is here, so I answer.";
  return `The request matches ${found.join(", then ")}. ${next}`;
}

function countInput({ instructions, items, tools }: ModelRequest): number {
  const described = tools.length > 0 ? [JSON.stringify(tools)] : [];
  return countTokens([instructions ?? "", ...described, ...items.flatMap(textsOf)]);
}

/** Files and images count as their text alone: their bytes are never read as words. */
function textsOf(item: Item): readonly string[] {
  switch (item.type) {
    case "message":
      return [toText(item.content)];
    case "function_call_output":
      return [toText(item.output)];
    case "function_call":
      return [item.name, item.arguments];
    default:
      return isLarge(item) ? textsIn(item) : [JSON.stringify(item)];
  }
}

/** Without the names of the fields; what is large has few beside its texts. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
