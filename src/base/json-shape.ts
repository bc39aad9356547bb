/** How deep JSON is and how much stands in it, known before it is parsed: parsers and writers recurse. */

/** Nothing that a person or a client writes is deeper. */
export const MAX_DEPTH = 128;

export interface JsonShape {
  /** Levels of brackets; counted to the first beyond `MAX_DEPTH`. */
  readonly depth: number;
  /** Names in all objects together. */
  readonly members: number;
  /** Values of all lists and objects together, give or take the brackets that hold them. */
  readonly values: number;
}

/** Counts brackets, colons and commas outside strings. Of what is no JSON it says anything. */
export function measureJson(text: string): JsonShape {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let values = 0;
  for (let at = 0; at < text.length && depth <= MAX_DEPTH; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at);
    else if (code === COLON) members++;
    else if (code === COMMA) values++;
    else {
      const step = STEPS[code] ?? 0;
      if (step > 0) values++;
      depth += step;
    }
    if (depth > deepest) deepest = depth;
  }
  return { depth: deepest, members, values };
}

/** Where the string that begins at `from` ends: at its last quote, or at the end of what has none. */
export function skipString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) return end;
  }
  return text.length;
}

/** Whether an odd number of backslashes stands before a character of a string. */
export function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** How a character changes the depth. */
const STEPS: Readonly<Record<number, number>> = { 123: 1, 91: 1, 125: -1, 93: -1 };
