/**
 * Intents that give work to subagents, and the one of a subagent that is asked for its report. They need
 * `subagent`, `parallel_subagent` or `call_subagent`.
 */

import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { clip, cutToChars, plural } from "../../../base/text.ts";
import { calculate } from "../arithmetic.ts";
import { type ChildAnswer, readEnvelope, readResults, readWords } from "../child-answers.ts";
import type { EmbeddedConversation } from "../conversation.ts";
import { type Share, toShares } from "../shares.ts";
import { toCount, unquote } from "../slots.ts";
import { isRefusal } from "../tool-results.ts";
import { isOneStep } from "../wording.ts";
import { toNumberIfExact } from "./computing.ts";
import { callTool, join, type PlanStep, refusal } from "./file-steps.ts";
import { defineIntent, type Intent, type IntentAnswer, type ToolRequest } from "./intent.ts";

/** The tools in the order of preference, used if the user names none. */
const TOOLS = ["subagent", "parallel_subagent", "call_subagent"] as const;
type ToolName = (typeof TOOLS)[number];

/** The most subagents in one turn. */
const MAX_CHILDREN = 100;

const AT_ONCE = "[(in parallel|at once|at the same time|side by side|concurrently|simultaneously)]";
const SUBAGENTS = `[(a|an|the|another|some|several|your|my)] [{count=number}] [(parallel|separate|different)] {who=subagents} ${AT_ONCE}`;
/** The request for what to do with the answers. */
const THEN = "[({sum}|{gather})]";

const delegate = defineIntent<"count" | "who" | "text" | "tool" | "sum" | "gather" | "each">({
  name: "delegate",
  summary: "hand work to subagents",
  tools: [...TOOLS],
  acts: true,
  hints: /\bsub-?agents?\b|_subagent\b/i,
  phrasings: [
    "ask three subagents in parallel to count the lines of src, test and docs, then add them up",
    "delegate reading README.md to a subagent",
    "have a subagent count the TypeScript files",
    "ask a subagent to list the files in docs",
    "let two subagents compute 2**64 and 3**40, then list the results",
    "use parallel_subagent to count the files in src and test, and sum them up",
    "ask two subagents: read a.md and find TODO in src",
  ],
  templates: [
    `(ask|tell|get|order|instruct|use|spawn|start|launch|take) ${SUBAGENTS} to [{each}] {text} ${THEN}`,
    `(have|let|make) ${SUBAGENTS} [{each}] {text} ${THEN}`,
    `(ask|tell|delegate to|(start|spawn|launch|use)) ${SUBAGENTS}: {text} ${THEN}`,
    `(delegate|hand|give|assign|leave) [(the task|the work) of] {text} to ${SUBAGENTS} ${THEN}`,
    `(with|using) ${SUBAGENTS} {text} ${THEN}`,
    `(use|using|call|with|run) [the] [tool] {tool=delegate} [tool] ${AT_ONCE} (to|for|and|on) {text} ${THEN}`,
    `(use|call|run) [the] [tool] {tool=delegate} [tool]: {text} ${THEN}`,
  ],
  accept: ({ text = "" }) => isOneStep(text),
  *plan({ count, who, text = "", tool, sum, each }, conversation) {
    const hands = toHands(count, who);
    const shares = toShares(text, hands);
    // In "Use 3 subagents to count" they share one task; in "ask three to say hello" each of them gets it.
    const isJoint =
      each === undefined &&
      /^(?:please )?(?:use|using|with|spawn|start|launch|take)\b/i.test(conversation.order ?? "");
    if (shares && hands !== undefined && hands > 1 && isJoint && isOneTask(shares)) {
      return toQuestion(`You name ${hands} subagents and one task. Name ${hands} parts of it.`);
    }
    if (!shares) {
      return toQuestion(`You name ${hands} subagents, and parts of the work that are not as many.`);
    }
    if (shares.length > MAX_CHILDREN) {
      return toQuestion(`I ask at most ${MAX_CHILDREN} subagents at once.`);
    }
    const answers = yield* askAll(chooseTool(tool, conversation), shares, conversation);
    return "text" in answers ? answers : toReport(answers, sum === undefined ? "list" : "sum");
  },
});

function toQuestion(problem: string): IntentAnswer {
  const text = `${problem} I have started none.`;
  return { text, data: { error: problem }, failed: true, declined: true };
}

function isOneTask(shares: readonly Share[]): boolean {
  return new Set(shares.map(({ prompt }) => prompt)).size === 1;
}

/** The prompts that a call sends to subagents; empty for other tools. */
export function promptsOf({ name, arguments: given }: ToolRequest): readonly string[] {
  if (!isDelegating(name)) return [];
  const { tasks, task_prompt, prompt } = given;
  const each = Array.isArray(tasks) ? tasks.filter(isJsonObject) : [{ task_prompt, prompt }];
  return each.flatMap((one) => {
    const words = one["task_prompt"] ?? one["prompt"];
    return typeof words === "string" ? [words] : [];
  });
}

/** The number of subagents; undefined for as many as there are parts. */
function toHands(count: string | undefined, who: string | undefined): number | undefined {
  return toCount(count) ?? (who === undefined || /s$/i.test(who) ? undefined : 1);
}

/** The tool that the user names, even if it is not offered; otherwise the first offered one. */
function chooseTool(
  named: string | undefined,
  { order = "", tools }: EmbeddedConversation,
): ToolName {
  const [, mentioned] =
    /^(?:please\s+)?(?:use|using|call|with|run)\s+(?:the\s+)?(?:tool\s+)?[`"']?(\w+)/i.exec(
      order,
    ) ?? [];
  const wanted = unquote(named ?? mentioned ?? "").toLowerCase();
  const offered = TOOLS.find((name) => tools.some((tool) => tool.name === name));
  return TOOLS.find((name) => name === wanted) ?? offered ?? "subagent";
}

function* askAll(
  tool: ToolName,
  shares: readonly Share[],
  { tools }: EmbeddedConversation,
): PlanStep<readonly ChildAnswer[] | IntentAnswer> {
  if (tool === "parallel_subagent") {
    const tasks = shares.map(({ label, prompt }) => ({ label, task_prompt: prompt }));
    const output = yield* callTool(tool, { tasks });
    return isRefusal(output) ? refusal(tool, output) : readResults(shares, output);
  }
  // A subagent has only the tools that are named for it.
  const tool_subset = tools.map(({ name }) => name).filter((name) => !isDelegating(name));
  const isSame = shares.length > 1 && shares[0]?.prompt === shares[1]?.prompt;
  const outputs = yield shares.map(({ label, prompt }, at) => {
    if (tool === "subagent") return { name: tool, arguments: { label, task_prompt: prompt } };
    // Two equal calls would be one, so subagents with the same prompt get a number each.
    const own: JsonObject = isSame ? { system_prompt: `You are number ${at + 1}.` } : {};
    return { name: tool, arguments: { prompt, tool_subset, ...own } };
  });
  const [first = ""] = outputs;
  if (shares.length === 1 && isRefusal(first)) return refusal(tool, first);
  const read = tool === "subagent" ? readEnvelope : readWords;
  return shares.map((share, at) => read(share, outputs[at] ?? ""));
}

/** True for a tool that delegates. It is called only if the user asks for it. */
export function isDelegating(name: string): boolean {
  return ([...TOOLS, "subagents", "ask_parent"] as readonly string[]).includes(name);
}

function toReport(answers: readonly ChildAnswer[], wanted: "list" | "sum"): IntentAnswer {
  const whole = answers.filter(({ isWhole }) => isWhole).length;
  const isAll = whole === answers.length;
  const title = isAll
    ? `${plural(whole, "subagent")} answered:`
    : `${whole} of ${plural(answers.length, "subagent")} finished:`;
  const total = wanted === "sum" ? addUp(answers) : undefined;
  const results = answers.map(({ label, text, problem, isWhole, number }) => ({
    label,
    success: problem === undefined,
    complete: isWhole,
    output: text,
    error: problem ?? null,
    number: number === undefined ? null : toNumberIfExact(number),
  }));
  const data = { results, count: answers.length, finished: whole, ...total?.data };
  const text = join([`${title}\n${answers.map(describe).join("\n")}`, total?.text]);
  const isNone = answers.every(({ problem }) => problem !== undefined);
  return { text, data, ...(!isAll && { failed: true }), ...(isNone && { declined: true }) };
}

function describe({ label, text, problem, isWhole }: ChildAnswer): string {
  if (problem !== undefined) return `- \`${label}\` failed: ${clip(problem, MAX_PROBLEM_CHARS)}`;
  const said = text === "" ? "(it said nothing)" : text.replace(/\n(?=.)/g, "\n  ");
  return `- \`${label}\`${isWhole ? "" : " did not finish. It says"}: ${said}`;
}

const MAX_PROBLEM_CHARS = 400;

/** Adds up the answers. A total with missing answers is called partial and names them. */
function addUp(answers: readonly ChildAnswer[]): IntentAnswer {
  const numbers = answers.flatMap(({ number }) => number ?? []);
  const without = answers.flatMap(({ label, number }) => (number === undefined ? label : []));
  if (numbers.length === 0) return { text: "None of them gave a number to add up." };
  const sum = calculate(numbers.join(" + ")) ?? "";
  const shown = numbers.length > 1 ? `${numbers.join(" + ")} = ${sum}` : sum;
  if (without.length === 0)
    return { text: `Total: ${shown}`, data: { total: toNumberIfExact(sum) } };
  const names = without.map((label) => `\`${label}\``).join(", ");
  return {
    text: `Partial total, without ${names}: ${shown}`,
    data: { partial_total: toNumberIfExact(sum) },
  };
}

const HOW =
  "[(concisely|briefly|in short|shortly|in a few words|in one (sentence|line|paragraph))]";
const YOUR = "[(the|your|all|all your|all the|all of your|these)] [(key|main|last|final)]";

const recap = defineIntent<"ask">({
  name: "recap",
  summary: "say my last answer again",
  tools: [],
  hints: /\b(summar|sum up|report|recap|repeat|find|found|findings|results?|answers?)/i,
  phrasings: [
    "summarize your findings concisely",
    "report your results",
    "what did you find?",
    "repeat your last answer",
    "give me a short summary of your findings",
    "sum up what you found in one sentence",
  ],
  templates: [
    `({ask=summarise}|recap|report|report on|repeat|state|give me|tell me|list) ${YOUR} (findings?|results?|answers?|conclusions?|work) ${HOW}`,
    `({ask=summarise}|recap|report|tell me|say) what (you|you have|was) (found|learned|learnt|did|done) [out] ${HOW}`,
    `what (did you find|have you found|are your findings|was your [last] answer) [out] ${HOW}`,
  ],
  plan: (_slots, conversation) => toRecap(conversation),
});

/** The most characters of a recap. A report repeats the last answer, so it is not a new one. */
const MAX_RECAP_CHARS = 2000;

/** The reply of a run that is asked for its report: its last answer, or a sentence that it has none. */
export function toRecap({ before }: EmbeddedConversation): IntentAnswer {
  const { said, calls } = before;
  if (said === undefined) {
    const done = calls.length > 0 ? ` after ${plural(calls.length, "tool call")}` : "";
    return { text: `I have no answer yet${done}.` };
  }
  const left = said.length - MAX_RECAP_CHARS;
  const short =
    left > 0 ? `${cutToChars(said, MAX_RECAP_CHARS)}\n(${left} characters are left out.)` : said;
  return { text: short, data: { answer: said, text: said } };
}

export const DELEGATING: readonly Intent[] = [delegate, recap];
