/**
 * Plain requests as templates: `(list|show) [me] [all] {kind} files [in {dir}]`.
 *
 * Words stand for themselves (a `?` after a letter makes it optional), `(a|b)` is a choice, `[a]` may be
 * missing, and `{name}` or `{name=slot}` is a slot of `SLOTS`. A template covers the whole text or
 * does not match, so an unknown word makes a request not understood rather than half understood.
 */

import { SLOTS, unquote } from "./slots.ts";

export type Slots<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/** The slots of one template in a text; `undefined` if the text is another request. */
export type PhrasePattern = (text: string) => Slots<string> | undefined;

export function compileTemplate(source: string): PhrasePattern {
  const cursor: Cursor = { source, at: 0, slots: [] };
  const pattern = new RegExp(`^${readChoice(cursor, "")}$`, "is");

  return (text) => {
    const match = pattern.exec(text);
    if (!match) return undefined;
    const found: Record<string, string> = {};
    for (const [index, name] of cursor.slots.entries()) {
      const value = match[index + 1];
      if (value !== undefined) found[name] ??= unquote(value.trim());
    }
    return found;
  };
}

interface Cursor {
  readonly source: string;
  at: number;
  /** The name of each capturing group, in their order. */
  readonly slots: string[];
}

/** The gap between two parts: white space, or a comma or similar with or without it. */
const GAP = "(?:\\s*[,:;!]\\s*|\\s+)";

/** Sequences separated by `|`, up to and including the closing bracket. */
function readChoice(cursor: Cursor, end: string): string {
  const sequences = [readSequence(cursor, end)];
  while (cursor.source[cursor.at] === "|") {
    cursor.at++;
    sequences.push(readSequence(cursor, end));
  }
  cursor.at++;
  return `(?:${sequences.join("|")})`;
}

function readSequence(cursor: Cursor, end: string): string {
  let pattern = "";
  // Before the first required part, the gap belongs to the optional part in front of it.
  let leading = true;
  for (let gap = skipSpaces(cursor); !isEnd(cursor, end); gap = skipSpaces(cursor)) {
    const optional = cursor.source[cursor.at] === "[";
    const part = readPart(cursor);
    if (leading) pattern += optional ? `(?:${part}${GAP})?` : part;
    else pattern += optional ? `(?:${gap}${part})?` : `${gap}${part}`;
    leading &&= optional;
  }
  return pattern;
}

/** Parts without a space between them match without one: `{from}-{to}`. */
function skipSpaces(cursor: Cursor): string {
  const start = cursor.at;
  while (cursor.source[cursor.at] === " ") cursor.at++;
  return cursor.at > start ? GAP : "";
}

function isEnd({ source, at }: Cursor, end: string): boolean {
  return at >= source.length || source[at] === "|" || source[at] === end;
}

function readPart(cursor: Cursor): string {
  const first = cursor.source[cursor.at];
  if (first === "(" || first === "[") {
    cursor.at++;
    return readChoice(cursor, first === "(" ? ")" : "]");
  }
  const part = /\{[^}]*\}|[^\s()[\]|{}]+/y;
  part.lastIndex = cursor.at;
  const [text = ""] = part.exec(cursor.source) ?? [];
  cursor.at += text.length;
  return text.startsWith("{") ? readSlot(cursor, text.slice(1, -1)) : text;
}

function readSlot(cursor: Cursor, text: string): string {
  const [name = "", slot = name] = text.split("=");
  cursor.slots.push(name);
  return `(${SLOTS[slot] ?? ".+?"})`;
}
