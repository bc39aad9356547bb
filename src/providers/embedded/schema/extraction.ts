/**
 * Recognizes requests to extract or convert: "extract the city: …", "convert this to JSON", "read this as a
 * table", "fill the form". The request comes before a colon, a line break or the data; only the text after
 * it states values.
 */

import { isOneStep, toWording } from "../wording.ts";
import { toWholeData } from "./whole-data.ts";

const FORMS: readonly RegExp[] = [
  /^(?:extract|parse|convert|transform|reformat|normali[sz]e)\b/i,
  /^fill (?:in |out )?(?:this|the|my) (?:form|schema|record|template|fields|object)\b/i,
  /^read .*\bas (?:json|data|the (?:form|schema)|an? (?:json )?(?:list|object|record|table))$/i,
  // These verbs have other meanings too: their object must be the data, with no other words.
  /^(?=\S+ )(?:collect|copy|get|give|print|put|return|show|take|turn|write)(?: me)?(?: (?:it|that|these|this|the (?:data|fields|file|following|input|records?|rows?|table|text|values)))?(?: (?:as|in|into|to) (?:json|the (?:form|schema)|an? (?:json )?(?:object|record)))?$/i,
];

/**
 * Words of a question, a condition, a judgement or an example. A text with one of them is not a plain
 * statement.
 */
const JUDGES =
  /[?？؟]|\b(?:if|whether|when|unless|only|should|must|might|can|could|would|decide|judge|assess|evaluate|determine|verify|approve|classify|recommend|guess|estimate|suggest|choose|pick|explain|why|how|what|who|where|which|summari[sz]e|like|for example|an example)\b/i;
/** The same for the request itself, in words that a statement may contain. */
const ASKS_FOR_MORE = /\b(?:may|you|your|judgement|judgment|opinion|reviewer|verdict on)\b/i;

/** A longer request is a document. */
const MAX_CHARS = 4000;

/**
 * The values in the request itself; empty if all of them are elsewhere; undefined if this is another kind
 * of request.
 */
export function readExtraction(order: string): string | undefined {
  if (order.length > MAX_CHARS) return undefined;
  const { head, tail } = splitOrder(order);
  const { plain } = toWording(head);
  const isForm = FORMS.some((form) => form.test(plain)) && isOneStep(plain);
  if (!isForm || JUDGES.test(head) || ASKS_FOR_MORE.test(head)) return undefined;
  return JUDGES.test(tail) && !toWholeData(tail) ? undefined : tail;
}

/** 'Return {"a": 1} as JSON' has words of the request at both ends. */
function splitOrder(order: string): { readonly head: string; readonly tail: string } {
  const [, head = order, rest = ""] = SPLIT.exec(order) ?? [];
  const [ending = ""] = /\s(?:as|in|into|to) json[.!]?$/i.exec(rest) ?? [];
  return { head: head.trim() + ending, tail: rest.slice(0, rest.length - ending.length).trim() };
}

const SPLIT = /^(.*?)(?::(?=\s|$)|(?=[\n{[`]))(.*)$/s;
