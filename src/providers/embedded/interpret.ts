/**
 * The interpreter of the embedded model: a request in, a reply out, without side effects. The same request
 * gets the same reply.
 *
 * Each turn is decided from the start: which intents match, how far their plans get with the available
 * outputs, and what to say or call next.
 */

import type { JsonObject } from "../../base/json.ts";
import { isLarge } from "../../base/json-pieces.ts";
import { plural } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelRequest } from "../provider.ts";
import {
  type EmbeddedConversation,
  type PastCall,
  readAsked,
  readConversation,
  toText,
} from "./conversation.ts";
import { countTokens } from "./count-tokens.ts";
import { answerMissingTool, answerUnchosen, answerUnknown, answerUnknownTool } from "./fallback.ts";
import { promptsOf, toRecap } from "./intents/delegating.ts";
import type { IntentAnswer, IntentMatch, IntentPlan, ToolRequest } from "./intents/intent.ts";
import { matchRequest } from "./match-request.ts";
import { withPlainNames } from "./plain-names.ts";
import { type EmbeddedReply, toReply } from "./reply.ts";
import { canonical } from "./schema/shape.ts";
import { isRefusal } from "./tool-results.ts";
import {
  answerFromCalls,
  type ChosenTool,
  findFittingTool,
  findForcedTool,
  findMissingTool,
  findNamedTool,
  toCall,
} from "./use-tool.ts";
import { type Decided, makeUpAnswer, writeAnswer } from "./write-answer.ts";

/**
 * What to do with a request that cannot be answered: refuse it or, in a test double that must answer every
 * request, make up a matching answer.
 */
export type Unknown = "refuse" | "make_up";

export interface Stance {
  readonly unknown?: Unknown | undefined;
  /** True if the user has not chosen this model. It then fills no schema. False if missing. */
  readonly isFallback?: boolean | undefined;
}

export function interpret(asked: ModelRequest, stance: Stance = {}): EmbeddedReply {
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
    reasoning,
    calls,
    text: text && inTheirWords(text),
    refusal: refusal && inTheirWords(refusal),
  };
  return toReply(draft, countInput(asked), request.max_output_tokens);
}

/** The next step: calls, or an answer. */
interface Step {
  readonly calls: readonly ToolRequest[];
  readonly decided: Decided | undefined;
}

interface Decision {
  readonly step: Step;
  /** One or two sentences on which intent matched and why, for the reasoning. */
  readonly why: string;
}

/** Refuses a schema before any call, because calls do not help a client that waits for a document. */
function leaveUnfilled(conversation: EmbeddedConversation): Decision {
  const why = "The request has a schema, and the user did not choose this model: I do not fill it.";
  return { step: refuse(answerUnchosen(conversation)), why };
}

function decide(request: ModelRequest, conversation: EmbeddedConversation): Decision {
  if (asksForMemory(request)) {
    const step = say({ text: toMemory(request) });
    return { step, why: "The conversation must become shorter: I keep its end, word for word." };
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

function decideWithoutPlan(request: ModelRequest, conversation: EmbeddedConversation): Decision {
  const { calls } = conversation;
  if (calls.some(({ output }) => output !== undefined)) {
    return {
      step: tellCalls(calls),
      why: "No intent matches, but tools were called: I report their results.",
    };
  }
  if (asksForReport(request, conversation)) {
    return {
      step: say(toRecap(conversation)),
      why: "The work is done and a report is requested: I repeat my last answer.",
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

/**
 * True if the request asks for a compaction: a server does so with these instructions
 * (`responses/compaction`).
 */
function asksForMemory({ instructions }: ModelRequest): boolean {
  return /^You write the memory of a conversation\b/.test(instructions ?? "");
}

const MAX_MEMORY_CHARS = 4000;

/** The end of the conversation, unchanged, because it is what is needed next. */
function toMemory(request: ModelRequest): string {
  const whole = readAsked(request).join("\n").trim();
  return whole.length > MAX_MEMORY_CHARS ? `…${whole.slice(-MAX_MEMORY_CHARS)}` : whole;
}

const REPORT =
  /\b(summar\w*|reports?|findings?|results?|answers?|conclu\w*|numbers?|outcome|recap|concise\w*|brief\w*|found)\b/i;

/**
 * True if the request asks for a report. A loop may ask in any words, and takes the tools away. If the
 * conversation had tools and has none now, the request is for a report; otherwise its words must say so.
 */
function asksForReport({ tools }: ModelRequest, { asked, before }: EmbeddedConversation): boolean {
  if (tools.length > 0) return false;
  return before.calls.length > 0 || (before.said !== undefined && REPORT.test(asked.join("\n")));
}

/** Runs each plan as far as it gets. The first plan that needs calls decides the turn. */
function runPlans(
  matches: readonly IntentMatch[],
  request: ModelRequest,
  conversation: EmbeddedConversation,
): Step {
  const answers: IntentAnswer[] = [];
  const outputs = collectOutputs(conversation);
  for (const [index, match] of matches.entries()) {
    // In "copy a to b, then delete a", the second step must not run after the first failed.
    if (match.intent.acts && answers.some(({ failed }) => failed)) {
      const left = matches.length - index;
      const text = `After that I stopped: ${plural(left, "step")} left out.`;
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
    // The request would reach a subagent in words that it does not understand either.
    if (!next.every((call) => canBeHandedOn(call, conversation)))
      return refuse(answerUnknown(conversation));
    return { calls: next, decided: undefined };
  }
  const data: JsonObject = Object.assign({}, ...answers.map((answer) => answer.data ?? {}));
  const text = answers.map((answer) => answer.text).join("\n\n");
  // The result of one step is not an answer for another step that failed.
  const isSound = !answers.some(({ failed }) => failed);
  const material = isSound ? answers.flatMap((answer) => answer.material ?? []) : [];
  const whole = { text, data, material };
  return answers.length > 0 && answers.every(({ declined }) => declined)
    ? refuse(whole)
    : say(whole);
}

/** True if this model would understand every prompt of the call for a subagent. */
function canBeHandedOn(call: ToolRequest, conversation: EmbeddedConversation): boolean {
  return promptsOf(call).every(
    (prompt) => matchRequest({ ...conversation, asked: [prompt], order: prompt }).length > 0,
  );
}

/** The outputs of each call, in the order of the calls: a call that is made twice has two outputs. */
type Outputs = ReadonlyMap<string, string[]>;

function collectOutputs({ calls }: EmbeddedConversation): Outputs {
  const outputs = new Map<string, string[]>();
  for (const call of calls) {
    if (call.output === undefined) continue;
    const key = toCallKey(call);
    outputs.set(key, [...(outputs.get(key) ?? []), call.output]);
  }
  return outputs;
}

/**
 * Feeds a plan the available outputs. Returns the calls that it still waits for, or its answer. Each step
 * uses outputs of its own: a file that an earlier step read may have changed since, and an action that is
 * requested twice must be done twice.
 */
function replay(plan: IntentPlan, outputs: Outputs): readonly ToolRequest[] | IntentAnswer {
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

/**
 * Uses a tool that the request names. A plan that uses the tool knows its arguments best; otherwise they
 * are built, once.
 */
function useTool(
  use: ChosenTool,
  planned: Step | undefined,
  conversation: EmbeddedConversation,
): Step {
  const { name } = use.tool;
  const own = planned?.calls.filter((call) => call.name === name) ?? [];
  if (own.length > 0) return { calls: own, decided: undefined };
  const made = conversation.calls.filter((call) => call.output !== undefined);
  if (!made.some((call) => call.name === name)) {
    return { calls: [toCall(use, conversation)], decided: undefined };
  }
  return planned?.decided ? planned : tellCalls(made);
}

/** Reports the results of calls. If none of them has one, the step is a refusal. */
function tellCalls(calls: readonly PastCall[]): Step {
  const answer = answerFromCalls(calls);
  const isDone = calls.some(({ output }) => output !== undefined && !isRefusal(output));
  return isDone ? say(answer) : refuse(answer);
}

function say(answer: IntentAnswer): Step {
  return { calls: [], decided: { answer, outcome: "answered" } };
}

function refuse(answer: IntentAnswer): Step {
  return { calls: [], decided: { answer, outcome: "refused" } };
}

function explainUse({ tool, reason }: ChosenTool): string {
  return `I use the tool \`${tool.name}\` because ${reason}.`;
}

function explainMatches(matches: readonly IntentMatch[], { calls }: Step): string {
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

/** The texts of an item. Of files and images only text counts; their bytes are never read as words. */
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

/** All texts in a value, without the names of its fields. In a large value nearly everything is text. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
