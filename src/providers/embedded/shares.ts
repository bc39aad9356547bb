/**
 * Splits work into one share for each subagent: "count the lines of src, test and docs" is the same task
 * for three places, "read a.md and count the files in src" is two tasks.
 */

import { isFilePath, unquote } from "./slots.ts";

export interface Share {
  /** Different from the label of every other share. */
  readonly label: string;
  /** The prompt of one subagent, readable without the others. */
  readonly prompt: string;
}

/** One share for each part; undefined if the number of parts is not `count`. */
export function toShares(work: string, count: number | undefined): Share[] | undefined {
  const text = toOrder(work);
  if (count === 1) return [{ label: toLabel(text), prompt: toSentence(text) }];
  const parts = toParts(text);
  // All subagents get the same task.
  if (parts.length === 1 && count !== undefined) {
    return withOwnLabels(Array.from({ length: count }, () => ({ item: text, order: text })));
  }
  if (count !== undefined && count !== parts.length) return undefined;
  return withOwnLabels(parts);
}

interface Part {
  /** The subject of the share, for the label. */
  readonly item: string;
  readonly order: string;
}

const VERBS =
  "ask|calculate|call|check|compare|compute|copy|count|create|delegate|delete|diff|evaluate|fetch|find|get|glob|grep|have|list|look|make|move|open|print|python|read|rename|replace|reply|run|say|search|show|summari[sz]e|tell|use|what|where|which|how|write";
/** A task of its own, and not another place for the first one. */
const ORDER = new RegExp(`^(?:to\\s+)?(?:${VERBS})\\s+\\S`, "i");

function toParts(text: string): Part[] {
  const [first = "", ...more] = splitList(text);
  if (more.length === 0) return [{ item: text, order: text }];
  if (more.every((part) => ORDER.test(part))) {
    return [first, ...more].map((part) => {
      const order = part.replace(/^to\s+/i, "");
      return { item: order, order };
    });
  }
  const { head, item } = splitHead(first, more);
  return [item, ...more]
    .map((one) =>
      IN_PLACE.test(head) ? one.replace(/^the\s+|\s+(?:folders|directories)$/gi, "") : one,
    )
    .map((one) => ({ item: one, order: `${toPlace(head, one)} ${one}` }));
}

/** Splits at commas and "and", but not between quotes. */
function splitList(text: string): string[] {
  const chunks = text.match(/(?:"[^"]*"|'[^']*'|`[^`]*`|(?!\s*,|\s+and\s).)+/gs) ?? [];
  return chunks
    .map((chunk) => chunk.trim().replace(/^and\s+/i, ""))
    .filter((chunk) => chunk !== "");
}

const IN_PLACE = /\b(?:of|in|from|at|under|below|inside|on|for|about)$/i;
const TO_PLACE = /^(.*\b(?:of|in|from|at|under|below|inside|on|for|about))\s+(\S.*)$/is;

/**
 * The beginning that all parts share. It ends at the last preposition, or where the length of the others
 * says.
 */
function splitHead(first: string, more: readonly string[]): { head: string; item: string } {
  const [, head, item] = TO_PLACE.exec(first) ?? [];
  const isPlace = more.every((part) => !TO_PLACE.test(part));
  if (head !== undefined && item !== undefined && isPlace) return { head, item };
  const words = first.split(/\s+/);
  const length = Math.max(...more.map((part) => part.split(/\s+/).length));
  const at = Math.max(1, isPlace ? words.length - length : 1);
  return { head: words.slice(0, at).join(" "), item: words.slice(at).join(" ") };
}

/** "Count the lines of src", worded so that it certainly means a folder. */
function toPlace(head: string, item: string): string {
  if (isFilePath(unquote(item))) return head;
  return head.replace(/\b(lines(?:\s+of\s+code)?)\s+(?:of|in)$/i, "$1 of the files in");
}

const GERUND =
  /^(?:(count|read|list|find|search|show|fetch|check|look)|(comput|calculat|evaluat|writ|summari[sz]|delet|mov|renam|compar|creat|mak)|(run)n)ing\b/i;

/** "Counting the lines" as an imperative. */
function toOrder(work: string): string {
  const text = work.replace(/[\s.,;]+$/, "");
  return text.replace(GERUND, (_, plain?: string, short?: string, run?: string) =>
    short === undefined ? (plain ?? run ?? "") : `${short}e`,
  );
}

function toSentence(order: string): string {
  return order.charAt(0).toUpperCase() + order.slice(1);
}

function withOwnLabels(parts: readonly Part[]): Share[] {
  const seen = new Map<string, number>();
  return parts.map(({ item, order }) => {
    const label = toLabel(item);
    const times = (seen.get(label) ?? 0) + 1;
    seen.set(label, times);
    return { label: times === 1 ? label : `${label}-${times}`, prompt: toSentence(order) };
  });
}

const MAX_LABEL_WORDS = 4;
const MAX_LABEL_CHARS = 40;

/** A path unchanged; the first words of a sentence. */
function toLabel(item: string): string {
  const bare = unquote(item);
  if (/^[\w./-]+$/.test(bare)) return bare.slice(0, MAX_LABEL_CHARS);
  const words = bare.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["task"];
  return words.slice(0, MAX_LABEL_WORDS).join("-").slice(0, MAX_LABEL_CHARS);
}
