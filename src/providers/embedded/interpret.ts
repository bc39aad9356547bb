/**
 * The embedded model's mind: a request in, a reply out, nothing else touched. The same request gets
 * the same reply.
 *
 * A turn is decided from the start each time: which intents match, how far their plans get with the
 * outputs that are there, and what to say or call next.
 */

import type { JsonObject } from "../../base/json.ts";
import { plural } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelRequest } from "../provider.ts";
import { describeUnseen } from "./attachments.ts";
import { type Conversation, readConversation, toText } from "./conversation.ts";
import { countTokens } from "./count-tokens.ts";
import {
  answerMissingTool,
  answerUnknown,
  answerUnknownTool,
  UNKNOWN_IN_SHORT,
} from "./fallback.ts";
import { toRecap } from "./intents/delegating.ts";
import type { Answer, Match, Plan, ToolRequest } from "./intents/intent.ts";
import { matchRequest } from "./match-request.ts";
import { withPlainNames } from "./plain-names.ts";
import { type Reply, toReply } from "./reply.ts";
import { findPairs } from "./schema/embedded-data.ts";
import { createEvidence } from "./schema/evidence.ts";
import { fillSchema } from "./schema/fill-schema.ts";
import { canonical } from "./schema/shape.ts";
import { parseRead } from "./tool-results.ts";
import {
  answerFromCalls,
  findFittingTool,
  findForcedTool,
  findMissingTool,
  findNamedTool,
  type ToolUse,
  toCall,
} from "./use-tool.ts";

export function interpret(asked: ModelRequest): Reply {
  const { request, offeredAs, inTheirWords } = withPlainNames(asked);
  const conversation = readConversation(request);
  const { step, why } = decide(request, conversation);
  const { effort } = request.reasoning;
  const reasoning = effort === undefined || effort === "none" ? undefined : why;
  const calls = step.calls
    .slice(0, request.parallelToolCalls === false ? 1 : undefined)
    .map((call) => ({ ...call, name: offeredAs(call.name) }));
  const text = step.answer && inTheirWords(writeAnswer(step, request, conversation));
  return toReply({ reasoning, text, calls }, countInput(asked), request.maxOutputTokens);
}

/** What to do next: calls, or an answer. */
interface Step {
  readonly calls: readonly ToolRequest[];
  readonly answer: Answer | undefined;
  /** Whether the answer is to the question, and no excuse. */
  readonly understood: boolean;
}

interface Decision {
  readonly step: Step;
  /** One or two sentences on what was matched and why, for the reasoning. */
  readonly why: string;
}

function decide(request: ModelRequest, conversation: Conversation): Decision {
  const matches = matchRequest(conversation);
  const planned = matches.length > 0 ? runPlans(matches, request, conversation) : undefined;
  const forced = findForcedTool(request.toolChoice, conversation);
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
      step: say(answerFromCalls(calls)),
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
    const step = { ...say(answerUnknownTool(missing, request)), understood: false };
    return { step, why: `The request names the tool \`${missing}\`, which is not offered.` };
  }
  return {
    step: { ...say(answerUnknown()), understood: false },
    why: "No intent matches the request, so I say what I can do.",
  };
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
      answers.push({ text: `After that I did not go on: ${plural(left, "step")} left out.` });
      break;
    }
    const plan = match.plan();
    const next = "text" in plan ? plan : replay(plan, outputs);
    if ("text" in next) {
      answers.push(next);
      continue;
    }
    const missing = next.find(({ name }) => !conversation.tools.some((tool) => tool.name === name));
    if (!missing) return { calls: next, answer: undefined, understood: true };
    return { ...say(answerMissingTool(missing.name, match.intent, request)), understood: false };
  }
  const data: JsonObject = Object.assign({}, ...answers.map((answer) => answer.data ?? {}));
  return say({ text: answers.map(({ text }) => text).join("\n\n"), data });
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
  if (own.length > 0) return { calls: own, answer: undefined, understood: true };
  const made = conversation.calls.filter((call) => call.output !== undefined);
  if (!made.some((call) => call.name === name)) {
    return { calls: [toCall(use, conversation)], answer: undefined, understood: true };
  }
  return planned?.answer ? planned : say(answerFromCalls(made));
}

function say(answer: Answer): Step {
  return { calls: [], answer, understood: true };
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

function writeAnswer(
  { answer, understood }: Step,
  request: ModelRequest,
  conversation: Conversation,
): string {
  const { text = "", data } = answer ?? {};
  const { format } = request;
  if (format.type === "text") {
    const unseen = describeUnseen(conversation.attachments);
    return unseen === undefined ? text : understood ? `${text}\n\n${unseen}` : `${unseen} ${text}`;
  }
  const evidence = createEvidence({
    texts: findTexts(conversation),
    data,
    answer: understood ? text : UNKNOWN_IN_SHORT,
  });
  if (format.type === "json_schema") return JSON.stringify(fillSchema(format.schema, evidence));
  const first = evidence.documents[0] ?? findPairs(conversation.asked.join("\n"));
  const extracted = understood ? { answer: text, ...data } : (first ?? { answer: text });
  return JSON.stringify(Array.isArray(extracted) ? { items: extracted } : extracted);
}

/** The request first, then what it brought along, then what tools said, then earlier messages. */
function findTexts({ asked, attachments, calls, earlier }: Conversation): string[] {
  const files = attachments.flatMap(({ text }) => text ?? []);
  const outputs = calls.flatMap(({ output }) =>
    output === undefined ? [] : [withoutNumbers(output)],
  );
  const requests = asked.map((text) => text.replace(/^---(?: .+ ---)?$/gm, ""));
  return [...requests, ...files, ...outputs, ...[...earlier].reverse()];
}

function withoutNumbers(output: string): string {
  const result = parseRead(output);
  return result.ok ? result.lines.map((line) => line.text).join("\n") : output;
}

function countInput({ instructions, items, tools }: ModelRequest): number {
  const described = tools.length > 0 ? countTokens(JSON.stringify(tools)) : 0;
  return (
    countTokens(instructions ?? "") +
    described +
    items.reduce((sum, item) => sum + countItem(item), 0)
  );
}

/** Files and images count as their text alone: their bytes are never read as words. */
function countItem(item: Item): number {
  switch (item.type) {
    case "message":
      return countTokens(toText(item.content));
    case "function_call_output":
      return countTokens(toText(item.output));
    case "function_call":
      return countTokens(item.name) + countTokens(item.arguments);
    default:
      return countTokens(JSON.stringify(item));
  }
}
