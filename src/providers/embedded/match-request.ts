/**
 * Finds the intents a request speaks of: one for the whole of it, or one for each of its sentences.
 *
 * Orders are taken from the user's own prompt alone. What files, standard input or tools bring along
 * is material: a sentence in it that reads like an order is not one.
 */

import type { Conversation } from "./conversation.ts";
import type { Match } from "./intents/intent.ts";
import { INTENTS } from "./intents/table.ts";
import { splitSentences, toWording } from "./wording.ts";

/** A request of more sentences than this is a document, not a list of orders. */
const MAX_SENTENCES = 8;

/** Longer texts are material, not orders. */
const MAX_CHARS = 4000;

/** Empty when the request, or any sentence of it, is not understood. */
export function matchRequest(conversation: Conversation): readonly Match[] {
  for (const text of conversation.asked.flatMap((part) => findPrompt(part) ?? [])) {
    const whole = matchOne(text, conversation);
    if (whole) return [whole];
    // Standard input follows the prompt behind a blank line.
    const prompt = text.split(/\n\s*\n/, 1)[0] ?? "";
    const matches = matchSentences(prompt, conversation);
    if (matches.length > 0) return matches;
  }
  return [];
}

/**
 * A part without the files in front of it, which stand under lines with their names and end with a
 * line of dashes. With more such lines than one nobody can tell which ends them, so no order is read.
 */
function findPrompt(part: string): string | undefined {
  const sections = /^--- .+ ---$/.test(part.split("\n", 1)[0] ?? "")
    ? part.split(/^---$/m)
    : ["", part];
  const [, prompt = "", ...more] = sections;
  const text = prompt.trim();
  return more.length > 0 || text === "" || text.length > MAX_CHARS ? undefined : text;
}

function matchSentences(prompt: string, conversation: Conversation): readonly Match[] {
  const sentences = splitSentences(prompt);
  if (sentences.length > MAX_SENTENCES) return [];
  const matches = sentences.flatMap((sentence) => matchOne(sentence, conversation) ?? []);
  return matches.length === sentences.length ? matches : [];
}

function matchOne(text: string, conversation: Conversation): Match | undefined {
  for (const variant of [text, text.replace(TOOL_MENTION, "")]) {
    const wording = toWording(variant);
    for (const intent of INTENTS) {
      const match = intent.match(wording, conversation);
      if (match) return match;
    }
  }
  return undefined;
}

/** "Use the bash_find tool to list the Python files": the order stands behind the tool. */
const TOOL_MENTION =
  /^(?:please\s+)?(?:use|using|with|call|run)\s+(?:the\s+)?(?:tools?\s+)?[`"']?[\w-]+[`"']?(?:\s+(?:and|,)\s+[`"']?[\w-]+[`"']?)*(?:\s+tools?)?(?:\s+to\s+|,\s*|\s+and\s+)/i;
