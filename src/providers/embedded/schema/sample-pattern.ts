/**
 * Writes a text that matches a regular expression, for the simple ones in schemas: literals, classes,
 * groups, choices and counts. For any other the text may not match, so check it.
 */

interface Cursor {
  readonly source: string;
  at: number;
  /** Repetitions above the minimum, where the pattern allows them. */
  readonly extra: number;
}

/** `extra` is the number of repetitions above the minimum, for a longer text of the same pattern. */
export function samplePattern(source: string, extra: number): string {
  return writeChoice({ source, at: 0, extra });
}

/** Writes the first alternative and skips the others. */
function writeChoice(cursor: Cursor): string {
  const first = writeSequence(cursor);
  while (cursor.source[cursor.at] === "|") {
    cursor.at++;
    writeSequence(cursor);
  }
  return first;
}

function writeSequence(cursor: Cursor): string {
  let written = "";
  while (cursor.at < cursor.source.length && !"|)".includes(cursor.source[cursor.at] ?? "")) {
    const atom = writeAtom(cursor);
    written += atom.repeat(readCount(cursor));
  }
  return written;
}

function writeAtom(cursor: Cursor): string {
  const character = cursor.source[cursor.at++] ?? "";
  switch (character) {
    case "^":
    case "$":
      return "";
    case ".":
      return "x";
    case "[":
      return writeClass(cursor);
    case "(":
      return writeGroup(cursor);
    case "\\":
      return writeEscape(cursor.source[cursor.at++] ?? "");
    default:
      return character;
  }
}

function writeGroup(cursor: Cursor): string {
  const opening = /\?(?::|<[a-z_]\w*>|<?[=!])/iy;
  opening.lastIndex = cursor.at;
  const [kind = ""] = opening.exec(cursor.source) ?? [];
  cursor.at += kind.length;
  const inner = writeChoice(cursor);
  cursor.at++;
  const isLookaround = /[=!]$/.test(kind);
  return isLookaround ? "" : inner;
}

function writeClass(cursor: Cursor): string {
  let end = cursor.at;
  while (end < cursor.source.length && cursor.source[end] !== "]") {
    end += cursor.source[end] === "\\" ? 2 : 1;
  }
  const body = cursor.source.slice(cursor.at, end);
  cursor.at = end + 1;
  if (!body.startsWith("^"))
    return body.startsWith("\\") ? writeEscape(body[1] ?? "") : body.slice(0, 1);
  return [..."xX0_-. ~"].find((one) => new RegExp(`[${body}]`).test(one)) ?? "";
}

function readCount(cursor: Cursor): number {
  const quantifier = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y;
  quantifier.lastIndex = cursor.at;
  const match = quantifier.exec(cursor.source);
  if (!match) return 1;
  cursor.at = quantifier.lastIndex;
  const [text = "", least, range, most] = match;
  if (least !== undefined) {
    const limit =
      range === undefined ? Number(least) : most ? Number(most) : Number.MAX_SAFE_INTEGER;
    return Math.min(Number(least) + cursor.extra, limit);
  }
  if (text.startsWith("?")) return Math.min(cursor.extra, 1);
  return text.startsWith("+") ? 1 + cursor.extra : cursor.extra;
}

const ESCAPES: Readonly<Record<string, string>> = {
  d: "0",
  w: "x",
  s: " ",
  D: "x",
  W: "-",
  S: "x",
  n: "\n",
  t: "\t",
  b: "",
  B: "",
};

function writeEscape(letter: string): string {
  return ESCAPES[letter] ?? letter;
}
