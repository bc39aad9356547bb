/**
 * Whether a request that no intent understands is data to be put in another form, so that a schema may be
 * filled with what it states. A question or a judgement is not: only a language model could answer it.
 */

import { toWording } from "../wording.ts";

const FORMS =
  /^(?:extract|parse|convert|transform|turn|fill|put|take|copy|collect)\b|^(?:give|return|show|get)\b.*\b(?:as|in|into) json\b/is;

/** Statements, pairs, tables and documents. */
const STATES = /[:=]|\b(?:is|are|was)\b|[,;|\t].*\n|^\s*[{[]/i;

/** Words of a question, a condition or a judgement, and of an example that shows only the form of an answer. */
const JUDGES =
  /\?|\b(?:if|whether|when|unless|only|should|must|might|can|could|would|decide|judge|review|check|assess|evaluate|determine|verify|approve|classify|rate|rank|score|grade|recommend|guess|estimate|suggest|choose|pick|explain|why|how|what|who|where|which|summari[sz]e|like|for example|an example)\b/i;

/** What is asked stands at the beginning; the time that the rest would take grows with its square. */
const MAX_HEAD_CHARS = 4000;

export function givesData(order: string): boolean {
  const { plain } = toWording(order.slice(0, MAX_HEAD_CHARS));
  if (order.includes("?") || JUDGES.test(order)) return false;
  return plain === "" || FORMS.test(plain) || STATES.test(plain);
}
