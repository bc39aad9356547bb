/**
 * The texts for a request that is not understood, or cannot be served with the available tools. None of
 * them is an answer: the run ends as `refused`, and this is the text of the refusal.
 */

import type { ModelRequest } from "../provider.ts";
import type { EmbeddedConversation } from "./conversation.ts";
import type { Intent, IntentAnswer } from "./intents/intent.ts";
import { INTENTS } from "./intents/table.ts";
import { WAYS_TO_A_MODEL } from "./ways-to-a-model.ts";

const WHAT_I_AM =
  "I am `embedded/offline`: not a language model, but a fixed interpreter of plain requests.";

/** Three lines: what this model is, the two nearest requests it understands, and how to get a real model. */
export function answerUnknown(conversation: EmbeddedConversation): IntentAnswer {
  return toThreeLines("I do not understand this request.", conversation);
}

/** The answer to a request whose schema may not be filled. */
export function answerUndecided(conversation: EmbeddedConversation): IntentAnswer {
  const why =
    'I decide nothing. I fill a schema where the input is nothing but data, or where the request says "extract …:" or "convert …:".';
  return toThreeLines(why, conversation);
}

/** The answer to a request with a schema if the embedded model is only the fallback, not the user's choice. */
export function answerUnchosen(conversation: EmbeddedConversation): IntentAnswer {
  const why =
    "I answer because there is no key and no local server, so I fill no schema. To use me anyway, pass `-m embedded`.";
  return toThreeLines(why, conversation);
}

/** The answer if a schema cannot be filled: `missing` is a required key without a stated value, or empty. */
export function answerUnfilled(missing: string, conversation: EmbeddedConversation): IntentAnswer {
  const gap =
    missing === ""
      ? "and it says nothing about this"
      : `and it does not state \`${missing}\`, or not clearly`;
  const why = `I fill a schema only with what the input or a tool's result says, ${gap}.`;
  return toThreeLines(why, conversation);
}

function toThreeLines(why: string, conversation: EmbeddedConversation): IntentAnswer {
  const [first, second] = findNearest(conversation).map((phrasing) => `"${phrasing}"`);
  const lines = [
    `${WHAT_I_AM} ${why}`,
    `The nearest requests I understand: ${first} and ${second}. \`offshoot run help\` lists all ${INTENTS.length} kinds.`,
    `For a real model: ${WAYS_TO_A_MODEL}. Then run the same command again.`,
  ];
  return { text: lines.join("\n") };
}

/** One sentence in place of an answer, for test doubles that must answer. */
export const UNKNOWN_IN_SHORT = "embedded/offline is not a language model and does not know.";

/** The longest request, in characters. */
const MAX_ORDER_CHARS = 4000;

/** Common first requests, suggested if the request has no known word. */
const FIRST_TRIES: readonly string[] = ["list the files in src", "summarise README.md"];

/** Two phrasings of different intents that share the most words with the request. */
function findNearest({ asked, order, tools }: EmbeddedConversation): readonly string[] {
  const wanted = new Set(toWords((order ?? asked[0] ?? "").slice(0, MAX_ORDER_CHARS)));
  const offered = new Set(tools.map(({ name }) => name));
  const usable = INTENTS.filter(
    (intent) => intent.tools.length === 0 || intent.tools.some((name) => offered.has(name)),
  );
  const near = usable
    .map((intent) => closestPhrasing(intent, wanted))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ phrasing }) => phrasing);
  return [...new Set([...near.slice(0, 2), ...FIRST_TRIES])].slice(0, 2);
}

/** The share of a phrasing's words that the request has, so that long phrasings do not win by length. */
function closestPhrasing(
  { phrasings }: Intent,
  wanted: ReadonlySet<string>,
): { readonly phrasing: string; readonly score: number } {
  const scored = phrasings.map((phrasing) => {
    const words = toWords(phrasing);
    const shared = words.filter((word) => wanted.has(word)).length;
    return { phrasing, score: shared === 0 ? 0 : shared / Math.sqrt(words.length) };
  });
  return scored.reduce((best, one) => (one.score > best.score ? one : best));
}

/** Words that appear in every request. */
const COMMON = new Set(
  "a an the this that it is are was in of to for on at by with and or me my you your i do does have has how many all any each please can what which who where there here one two".split(
    " ",
  ),
);

function toWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.map((word) => word.replace(/(?<=\w{3})s$/, "")).filter((word) => !COMMON.has(word));
}

export function answerMissingTool(
  tool: string,
  intent: Intent,
  { tool_choice }: ModelRequest,
): IntentAnswer {
  const needed = `I need the tool \`${tool}\` to ${intent.summary}`;
  if (tool_choice === "none")
    return { text: `${needed}, and this request forbids tool calls (\`tool_choice: none\`).` };
  // An intent that can use one of several tools may name a tool that is not in its own list.
  const names = intent.tools.includes(tool) ? intent.tools.join(",") : tool;
  return { text: `${needed}, and it is not offered. ${toAllow(names)}` };
}

export function answerUnknownTool(
  tool: string,
  { tools, tool_choice }: ModelRequest,
): IntentAnswer {
  if (tool_choice === "none")
    return {
      text: `I cannot call \`${tool}\`: this request forbids tool calls (\`tool_choice: none\`).`,
    };
  const offered = tools.flatMap((one) => (one.type === "function" ? [`\`${one.name}\``] : []));
  const known = offered.length > 0 ? `These are: ${offered.join(", ")}.` : "None is.";
  return {
    text: `The tool \`${tool}\` is not offered. ${known} ${toAllow(tool)}`,
  };
}

/** Two ways to allow a tool, because the model does not know whether a command or a program asks it. */
function toAllow(names: string): string {
  const list = names.split(",").map((name) => `"${name}"`);
  return `Allow it with \`--tools ${names}\`, or in a program with \`tools: [${list.join(", ")}]\`.`;
}
