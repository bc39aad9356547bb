/**
 * How many columns a text takes on a terminal, exactly, and its graphemes: what a person calls a character, and
 * what a caret steps over. Text of ASCII alone, which most text is, costs neither a segmenter nor a table.
 */

import { isEastAsianWide } from "./wide-ranges.ts";

/** Printable ASCII and nothing else: a column for each character. */
const ASCII = /^[\x20-\x7e]*$/;
const EMOJI = /^\p{Emoji_Presentation}/u;
const HAS_EMOJI_SIGN = /\ufe0f/;
/** Marks, format characters and fillers that take no column of their own. */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each of them is meant by itself
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u115f\u1160-\u11ff\ud7b0-\ud7ff\ufe0f]/u;

let segmenter: Intl.Segmenter | undefined;

/** Made when it is first needed: its tables cost start-up. */
export function graphemesOf(text: string): string[] {
  if (ASCII.test(text)) return text.split("");
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemesOf(text)) width += widthOfGrapheme(grapheme);
  return width;
}

/** 0, 1 or 2. A grapheme of several code points is as wide as its first one, or two where it is an emoji. */
export function widthOfGrapheme(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f && grapheme.length === 1) return 1;
  if (ZERO.test(grapheme)) return 0;
  if (EMOJI.test(grapheme) || isFlag(code)) return 2;
  if (isEastAsianWide(code)) return 2;
  return grapheme.length > 1 && HAS_EMOJI_SIGN.test(grapheme) ? 2 : 1;
}

/**
 * Whether every terminal gives the text the width that we do. They differ over emoji of several code points and
 * over some marks; a row with those is written whole, and no column of it is counted on.
 */
export function isSureWidth(text: string): boolean {
  return ASCII.test(text) || SURE.test(text);
}

/** ASCII, Latin, Greek, Cyrillic, common signs, kana, hanzi and hangul, each one code point. */
const SURE =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2190-\u2193\u2500-\u257f\u2588\u2591-\u2593\u25cb\u25cf\u2713\u2717\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** The regional letters, of which two make a flag. */
function isFlag(code: number): boolean {
  return code >= 0x1f1e6 && code <= 0x1f1ff;
}

/** The longest beginning that fits, by graphemes. */
export function cutToColumns(text: string, columns: number): string {
  if (columns <= 0) return "";
  if (ASCII.test(text)) return text.slice(0, columns);
  let kept = "";
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += widthOfGrapheme(grapheme);
    if (width > columns) break;
    kept += grapheme;
  }
  return kept;
}
