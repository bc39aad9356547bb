/**
 * Positions in a text: the grapheme, the word and the line before and after a position. Offsets are of UTF-16. Pure.
 */

import { graphemesOf } from "../../screen/width.ts";

/** Longer than any grapheme: so a text of megabytes is not split into graphemes for one step. */
const NEAR = 256;

export function graphemeBefore(text: string, at: number): number {
  if (at <= 0) return 0;
  // From the beginning of the line, if it is near: graphemes are split from the left.
  const line = lineStart(text, at);
  if (line === at) return at - 1;
  const from = at - line > NEAR ? alignStart(text, at - NEAR) : line;
  const last = graphemesOf(text.slice(from, at)).at(-1) ?? "";
  return at - last.length;
}

export function graphemeAfter(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const [first = ""] = graphemesOf(text.slice(at, alignStart(text, at + NEAR)));
  return at + Math.max(1, first.length);
}

/** Not in the middle of a surrogate pair. */
function alignStart(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

const WORD = /[\p{L}\p{N}_\p{M}]/u;

export function wordBefore(text: string, at: number): number {
  let place = at;
  while (place > 0 && !isWord(text, graphemeBefore(text, place)))
    place = graphemeBefore(text, place);
  while (place > 0 && isWord(text, graphemeBefore(text, place)))
    place = graphemeBefore(text, place);
  return place;
}

export function wordAfter(text: string, at: number): number {
  let place = at;
  while (place < text.length && !isWord(text, place)) place = graphemeAfter(text, place);
  while (place < text.length && isWord(text, place)) place = graphemeAfter(text, place);
  return place;
}

function isWord(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  return code !== undefined && WORD.test(String.fromCodePoint(code));
}

export function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}
