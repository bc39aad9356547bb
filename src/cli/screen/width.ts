/**
 * The exact number of columns that a text takes on a terminal, and its graphemes: what a person calls a character,
 * and what a caret steps over. Pure ASCII, which most text is, needs neither a segmenter nor a table.
 */

/** Printable ASCII only: one column for each character. */
const ASCII = /^[\x20-\x7e]*$/;
const EMOJI = /^\p{Emoji_Presentation}/u;
const HAS_EMOJI_SIGN = /\ufe0f/;
/** Marks, format characters and fillers that take no column of their own. */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each of them is meant by itself
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u115f\u1160-\u11ff\ud7b0-\ud7ff\ufe0f]/u;

let segmenter: Intl.Segmenter | undefined;

/** The graphemes of a text. The segmenter is made when it is first needed: its tables slow the start. */
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

/**
 * 0, 1 or 2. A grapheme of several code points is as wide as its first one, or two if it is an emoji.
 */
export function widthOfGrapheme(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f && grapheme.length === 1) return 1;
  if (ZERO.test(grapheme)) return 0;
  if (EMOJI.test(grapheme) || isFlag(code)) return 2;
  if (isEastAsianWide(code)) return 2;
  return grapheme.length > 1 && HAS_EMOJI_SIGN.test(grapheme) ? 2 : 1;
}

/**
 * True if every terminal gives the text the width that we compute. Terminals differ for emoji of several code points
 * and for some marks. A row with those is written whole, and its columns are not relied on.
 */
export function isSureWidth(text: string): boolean {
  return ASCII.test(text) || SURE.test(text);
}

/** ASCII, Latin, Greek, Cyrillic, common signs, kana, hanzi and hangul, each one code point. */
const SURE =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2190-\u2193\u2500-\u257f\u2588\u2591-\u2593\u25cb\u25cf\u2713\u2717\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** The regional letters; two of them make a flag. */
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

/**
 * The code points that take two columns: East Asian Width `W` and `F` of Unicode 16, as pairs of first and last.
 * Emoji are not included: the runtime's `\p{Emoji_Presentation}` knows those.
 */

const PAIRS: readonly number[] = [
  ...[0x1100, 0x115f, 0x2329, 0x232a, 0x2630, 0x2637, 0x268a, 0x268f, 0x2e80, 0x2e99],
  ...[0x2e9b, 0x2ef3, 0x2f00, 0x2fd5, 0x2ff0, 0x303e, 0x3041, 0x3096, 0x3099, 0x30ff],
  ...[0x3105, 0x312f, 0x3131, 0x318e, 0x3190, 0x31e5, 0x31ef, 0x321e, 0x3220, 0x3247],
  ...[0x3250, 0xa48c, 0xa490, 0xa4c6, 0xa960, 0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfaff],
  ...[0xfe10, 0xfe19, 0xfe30, 0xfe52, 0xfe54, 0xfe66, 0xfe68, 0xfe6b, 0xff01, 0xff60],
  ...[0xffe0, 0xffe6, 0x16fe0, 0x16fe4, 0x16ff0, 0x16ff1, 0x17000, 0x187f7],
  ...[0x18800, 0x18cd5, 0x18cff, 0x18d08, 0x1aff0, 0x1affe, 0x1b000, 0x1b122],
  ...[0x1b132, 0x1b132, 0x1b150, 0x1b152, 0x1b155, 0x1b155, 0x1b164, 0x1b167],
  ...[0x1b170, 0x1b2fb, 0x1d300, 0x1d356, 0x1d360, 0x1d376, 0x1f200, 0x1f202],
  ...[0x1f210, 0x1f23b, 0x1f240, 0x1f248, 0x1f250, 0x1f251, 0x1f260, 0x1f265],
  ...[0x20000, 0x2fffd, 0x30000, 0x3fffd],
];

function isEastAsianWide(code: number): boolean {
  if (code < 0x1100) return false;
  let low = 0;
  let high = PAIRS.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (PAIRS[middle * 2] ?? 0)) high = middle - 1;
    else if (code > (PAIRS[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}
