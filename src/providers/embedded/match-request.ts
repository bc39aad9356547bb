/**
 * Finds the intents a request speaks of: one for the whole of it, or one for each of its sentences.
 *
 * Orders are taken from the user's own prompt alone. What files, standard input or tools bring along
 * is material: a sentence in it that reads like an order is not one. Intents that do more than look
 * are held to that strictly, and come first: their words are the more exact.
 */

import type { Conversation } from "./conversation.ts";
import type { Intent, Match } from "./intents/intent.ts";
import { INTENTS } from "./intents/table.ts";
import { firstParagraph, withoutFiles } from "./prompt.ts";
import { splitSentences, toWording } from "./wording.ts";

/** A request of more sentences than this is a document, not a list of orders. */
const MAX_SENTENCES = 8;

/** Longer texts are material, not orders. */
const MAX_CHARS = 4000;

/** Empty when the request, or any sentence of it, is not understood. */
export function matchRequest(conversation: Conversation): readonly Match[] {
  const { asked, order } = conversation;
  const acting =
    order !== undefined && order.length <= MAX_CHARS && matchOne(order, ACTING, conversation);
  if (acting) return [acting];
  for (const text of asked.flatMap((part) => withoutFiles(part) ?? [])) {
    if (text.length > MAX_CHARS) continue;
    const whole = matchOne(text, LOOKING, conversation);
    if (whole) return [whole];
    const prompt = firstParagraph(text);
    const matches = matchSentences(prompt, prompt === order ? INTENTS : LOOKING, conversation);
    if (matches.length > 0) return matches;
  }
  return [];
}

const ACTING = INTENTS.filter(({ acts }) => acts);
const LOOKING = INTENTS.filter(({ acts }) => !acts);

function matchSentences(
  prompt: string,
  intents: readonly Intent[],
  conversation: Conversation,
): readonly Match[] {
  const sentences = splitSentences(prompt);
  if (sentences.length > MAX_SENTENCES) return [];
  const matches = sentences.flatMap((sentence) => matchOne(sentence, intents, conversation) ?? []);
  return matches.length === sentences.length ? matches : [];
}

function matchOne(
  text: string,
  intents: readonly Intent[],
  conversation: Conversation,
): Match | undefined {
  for (const variant of [text, withoutMention(text, conversation)]) {
    const wording = toWording(variant);
    for (const intent of intents) {
      const match = intent.match(wording, conversation);
      if (match) return match;
    }
  }
  return undefined;
}

/** "Use the bash_find tool to list the Python files": the order stands behind the tool. */
function withoutMention(text: string, { tools }: Conversation): string {
  const [mention = ""] = TOOL_MENTION.exec(text) ?? [];
  // "Run `date`, then …" names no tool: it is an order of its own.
  const isOrder =
    /\brun\b/i.test(mention) &&
    !/\btools?\b/i.test(mention) &&
    !tools.some(({ name }) => mention.includes(name));
  return isOrder ? text : text.slice(mention.length);
}

const TOOL_MENTION =
  /^(?:please\s+)?(?:use|using|with|call|run)\s+(?:the\s+)?(?:tools?\s+)?[`"']?[\w-]+[`"']?(?:\s+(?:and|,)\s+[`"']?[\w-]+[`"']?)*(?:\s+tools?)?(?:\s+to\s+|,\s*|\s+and\s+)/i;
