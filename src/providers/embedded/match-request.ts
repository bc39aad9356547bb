/**
 * Finds the intents of a request: one for the whole request, or one for each of its sentences.
 *
 * Requests are read from the user's own prompt alone. Files, standard input and tool results are material:
 * a sentence in them that looks like a request is not one. Intents that change something follow this rule
 * strictly, and are tried first, because their words are more exact.
 */

import type { EmbeddedConversation } from "./conversation.ts";
import type { Intent, IntentMatch } from "./intents/intent.ts";
import { INTENTS } from "./intents/table.ts";
import { firstParagraph, withoutFiles } from "./prompt.ts";
import { splitSentences, toWording } from "./wording.ts";

/** A text with more sentences than this is a document, not a list of requests. */
const MAX_SENTENCES = 8;

/** Longer texts are material, not requests. */
const MAX_CHARS = 4000;

/** Empty if the request, or any sentence of it, is not understood. */
export function matchRequest(conversation: EmbeddedConversation): readonly IntentMatch[] {
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
  conversation: EmbeddedConversation,
): readonly IntentMatch[] {
  const sentences = splitSentences(prompt);
  if (sentences.length > MAX_SENTENCES) return [];
  const matches = sentences.flatMap((sentence) => matchOne(sentence, intents, conversation) ?? []);
  return matches.length === sentences.length ? matches : [];
}

function matchOne(
  text: string,
  intents: readonly Intent[],
  conversation: EmbeddedConversation,
): IntentMatch | undefined {
  for (const variant of [text, withoutMention(text, conversation)]) {
    const wording = toWording(variant);
    for (const intent of intents) {
      const match = intent.match(wording, conversation);
      if (match) return match;
    }
  }
  return undefined;
}

/** The words after the tool: in "Use the bash_find tool to list the Python files" they are the request. */
function withoutMention(text: string, { tools }: EmbeddedConversation): string {
  const [mention = ""] = TOOL_MENTION.exec(text) ?? [];
  // "Run `date`, then …" does not name a tool: it is a request of its own.
  const isOrder =
    /\brun\b/i.test(mention) &&
    !/\btools?\b/i.test(mention) &&
    !tools.some(({ name }) => mention.includes(name));
  return isOrder ? text : text.slice(mention.length);
}

const TOOL_MENTION =
  /^(?:please\s+)?(?:use|using|with|call|run)\s+(?:the\s+)?(?:tools?\s+)?[`"']?[\w-]+[`"']?(?:\s+(?:and|,)\s+[`"']?[\w-]+[`"']?)*(?:\s+tools?)?(?:\s+to\s+|,\s*|\s+and\s+)/i;
