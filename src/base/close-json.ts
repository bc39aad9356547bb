/**
 * The beginning of a JSON document as a document of its own. Lists, objects and a string that are still
 * open at its end are closed there. Incomplete values are left out: a name without its value, a number
 * that may have more digits, a part of a character.
 */

import { isEscaped, MAX_DEPTH, skipString } from "./json-shape.ts";

/** How far the text was read, and what is open there. */
interface Reading {
  /** The brackets that close the open lists and objects, outermost first. */
  readonly open: string[];
  /** The length of the text that is kept. Nothing is opened or closed after it. */
  kept: number;
  /** True if the next string is the name of a member. */
  isName: boolean;
  /** True if the text ends within a string that is a value. */
  isInString: boolean;
}

/**
 * Closes the beginning of a JSON document. Returns undefined if no value has begun, or if it is nested
 * deeper than `MAX_DEPTH`. If the text is not the beginning of JSON, the result is not JSON either.
 */
export function closeJson(text: string): string | undefined {
  const reading: Reading = { open: [], kept: 0, isName: false, isInString: false };
  const { open } = reading;
  for (let at = 0; at < text.length && open.length <= MAX_DEPTH; ) at = readNext(text, at, reading);
  if (open.length > MAX_DEPTH) return undefined;
  const closing = open.toReversed().join("");
  if (reading.isInString) return `${text.slice(0, endOfCharacters(text))}"${closing}`;
  return reading.kept === 0 ? undefined : text.slice(0, reading.kept) + closing;
}

/** Reads a string, a word or a mark. Returns where the next one begins. */
function readNext(text: string, at: number, reading: Reading): number {
  const mark = text[at] ?? "";
  if (MARKS.has(mark)) return readMark(mark, at, reading);
  const end = (mark === '"' ? skipString(text, at) : endOfWord(text, at)) + 1;
  if (mark === '"' && !reading.isName) reading.isInString = end > text.length;
  // A word at the very end may be incomplete: `12` of `1234`.
  const isWhole = mark === '"' ? end <= text.length : end < text.length;
  if (isWhole && !reading.isName) reading.kept = end;
  return end;
}

const SPACES = " \n\r\t";
const MARKS: ReadonlySet<string> = new Set(`{}[],:${SPACES}`);

function readMark(mark: string, at: number, reading: Reading): number {
  const { open } = reading;
  if (mark === "{" || mark === "[") open.push(mark === "{" ? "}" : "]");
  if (mark === "}" || mark === "]") open.pop();
  if (mark === ":") reading.isName = false;
  else if (mark === "{" || mark === "[" || mark === ",") reading.isName = open.at(-1) === "}";
  if (mark !== ":" && mark !== "," && !SPACES.includes(mark)) reading.kept = at + 1;
  return at + 1;
}

/** `\ud83d`, the first half of a character that is written as two. */
const HALF = /^\\u[dD][89abAB]/;
const LONGEST_ESCAPE = 6;

/** The end of the last whole character of a string that is open at the end of the text. */
function endOfCharacters(text: string): number {
  const begun = findEscape(text, text.length);
  const length = text[begun + 1] === "u" ? LONGEST_ESCAPE : 2;
  const end = begun >= 0 && begun + length > text.length ? begun : text.length;
  const last = findEscape(text, end);
  return last === end - LONGEST_ESCAPE && HALF.test(text.slice(last, end)) ? last : end;
}

/** The start of the last escape that may reach to `end`; -1 if there is none. */
function findEscape(text: string, end: number): number {
  for (let at = end - 1; at >= end - LONGEST_ESCAPE && at >= 0; at--) {
    if (text[at] === "\\" && !isEscaped(text, at)) return at;
  }
  return -1;
}

/** The last character of a number, of `true`, `false` or `null`. */
function endOfWord(text: string, from: number): number {
  let at = from;
  while (at + 1 < text.length && text[at + 1] !== '"' && !MARKS.has(text[at + 1] ?? "")) at++;
  return at;
}
