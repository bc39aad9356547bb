/**
 * Calls that no intent planned: the tool that was forced, named by the user, or the only one that matches.
 * Each is made once for a request; then its output is the answer.
 */

import type { FunctionTool, ToolChoice } from "../../protocol/tools.ts";
import { buildArguments, hasArguments } from "./build-arguments.ts";
import type { EmbeddedConversation, PastCall } from "./conversation.ts";
import { isDelegating } from "./intents/delegating.ts";
import type { IntentAnswer, ToolRequest } from "./intents/intent.ts";
import { INTENTS } from "./intents/table.ts";
import { isRefusal, withoutNumbers } from "./tool-results.ts";

export interface ChosenTool {
  readonly tool: FunctionTool;
  /** True if the caller of the API decided on the tool; missing if words in the request did. */
  readonly isForced?: true;
  /** The reason for this tool, in words that follow "because". */
  readonly reason: string;
}

/** The tool that the request's `tool_choice` forces. */
export function findForcedTool(
  choice: ToolChoice,
  conversation: EmbeddedConversation,
): ChosenTool | undefined {
  const { tools } = conversation;
  if (typeof choice !== "string" && choice.type === "function") {
    const tool = tools.find(({ name }) => name === choice.name);
    return tool && { tool, isForced: true, reason: "the request forces it" };
  }
  const isRequired =
    choice === "required" ||
    (typeof choice !== "string" && choice.type === "allowed_tools" && choice.mode === "required");
  if (!isRequired) return undefined;
  const tool = findNamedTool(conversation)?.tool ?? bestFit(conversation) ?? tools[0];
  const reason = "the request asks for a call and it fits best";
  return tool && { tool, reason, ...(tools.length === 1 && { isForced: true }) };
}

/** The tool that the user names: "use the get_weather tool for Paris". A name in a file does not count. */
export function findNamedTool({ order = "", tools }: EmbeddedConversation): ChosenTool | undefined {
  const tool = tools.find(({ name }) => new RegExp(mentionOf(name), "i").test(order));
  return tool && { tool, reason: "you named it" };
}

/** A tool that the user clearly names and that is not offered: "use the get_weather tool". */
export function findMissingTool({ order = "", tools }: EmbeddedConversation): string | undefined {
  const mention =
    /\b(?:call|use|invoke)\s+(?:the\s+)?(?:(?:tool|function)\s+[`"']?([\w.-]+)|[`"']?([\w.-]+)[`"']?\s+(?:tool|function)\b|[`"']?([a-z]\w*_\w+))/i;
  const [, a, b, c] = mention.exec(order) ?? [];
  const name = a ?? b ?? c;
  return name === undefined || tools.some((tool) => tool.name === name) ? undefined : name;
}

/**
 * The only tool whose name and arguments are in the request. A tool that an intent uses is left to the
 * intent: "write a python script" is not Python code, and a subagent would not understand the request
 * either. Words about a subagent do not ask for the tool that waits for subagents.
 */
export function findFittingTool(conversation: EmbeddedConversation): ChosenTool | undefined {
  const { order = "" } = conversation;
  const fitting = conversation.tools
    .filter(({ name }) => !isDelegating(name))
    .filter(({ name }) => !INTENTS.some(({ tools }) => tools.includes(name)))
    .filter((tool) => sharedWords(tool.name, order) > 0 && hasArguments(tool, order));
  const [tool] = fitting;
  return tool && fitting.length === 1
    ? { tool, reason: "it is the only one that matches" }
    : undefined;
}

/** A call that the user's words ask for gets its arguments from the same words; a forced one from all texts. */
export function toCall(
  { tool, isForced }: ChosenTool,
  conversation: EmbeddedConversation,
): ToolRequest {
  const { asked, attachments, order = "" } = conversation;
  const material = isForced ? attachments.flatMap(({ text }) => text ?? []) : [];
  const request = isForced ? asked.join("\n") : order;
  return { name: tool.name, arguments: buildArguments(tool, request, material) };
}

/** The results of the calls, in sentences. */
export function answerFromCalls(calls: readonly PastCall[]): IntentAnswer {
  const sentences = calls.map(({ name, output = "" }) => {
    if (/^error\b/i.test(output))
      return `The tool \`${name}\` could not do it: ${output.replace(/^error:\s*/i, "")}`;
    return output.trim() === ""
      ? `The tool \`${name}\` gave no output.`
      : `The tool \`${name}\` says: ${output}`;
  });
  const material = calls
    .map(({ output = "" }) => output)
    .filter((output) => !isRefusal(output))
    .map(withoutNumbers);
  return { text: sentences.join("\n\n"), material };
}

function mentionOf(name: string): string {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return `\\b(?:call|use|using|run|invoke|try|with)\\s+(?:the\\s+)?(?:tool\\s+|function\\s+)?["'\`]?${escaped}(?![\\w-])`;
}

/** Words for what is done and not what it is done with. Many tools share them. */
const COMMON = new Set(
  "get set list find search run read write create make call fetch show tell do execute tool function bash shell file files the all".split(
    " ",
  ),
);

function bestFit({ order = "", tools }: EmbeddedConversation): FunctionTool | undefined {
  const scored = tools.map((tool) => ({
    tool,
    score:
      sharedWords(`${tool.name} ${tool.name}`, order) * 2 +
      sharedWords(tool.description ?? "", order),
  }));
  const best = scored.reduce(
    (a, b) => (b.score > a.score ? b : a),
    scored[0] ?? { tool: undefined, score: 0 },
  );
  return best.score > 0 ? best.tool : undefined;
}

function sharedWords(text: string, request: string): number {
  const said = new Set(toWords(request));
  return toWords(text).filter((word) => !COMMON.has(word) && word.length > 2 && said.has(word))
    .length;
}

function toWords(text: string): string[] {
  const words = text
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  // Plural and singular count as the same word.
  return words.map((word) => word.replace(/s$/, ""));
}
