/** The end of an answer: why it ended, in Gemini's words, which are many, and its tokens. A word we do not know is a plain end. */

import { toUsage, type Usage } from "../../protocol/usage.ts";
import { readShape } from "../shape.ts";
import { USAGE } from "./schema.ts";

/** True if the vendor's filter stopped the answer, or the prompt (`PROMPT_…`, as our decoder calls it). */
export function isFiltered(reason: string): boolean {
  return reason.startsWith("PROMPT_") || FILTERED.has(reason);
}

/**
 * True if the model wrote something that its own server could not parse. There is no answer, and a retry
 * may help.
 */
export function isBroken(reason: string): boolean {
  return BROKEN.has(reason);
}

export function toRefusalText(reason: string, message: string | undefined): string {
  if (message) return message;
  const isPrompt = reason.startsWith("PROMPT_");
  const word = isPrompt ? reason.slice("PROMPT_".length) : reason;
  return `The vendor's filter stopped the ${isPrompt ? "prompt" : "answer"}: ${word}.`;
}

const FILTERED: ReadonlySet<string> = new Set([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "MODEL_ARMOR",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
  // "All other reasons" are in practice a filter that does not say which.
  "OTHER",
  "IMAGE_OTHER",
]);

const BROKEN: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
  "NO_IMAGE",
]);

/** The tokens of an answer, and the calls of Google's own tools, as the API counts them. `sent` has the counts of all events, joined. */
export function readUsage(sent: object, nativeCalls: Record<string, number>): Usage {
  const usage = readShape({ ...sent }, USAGE);
  const thoughts = usage.thoughtsTokenCount ?? 0;
  return toUsage({
    input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    cached: usage.cachedContentTokenCount ?? 0,
    output: (usage.candidatesTokenCount ?? 0) + thoughts,
    reasoning: thoughts,
    nativeCalls,
  });
}
