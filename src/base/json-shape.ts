/** How deep JSON is and how much is in it, measured before it is parsed: parsers and writers recurse. */

/** Deepest nesting that is accepted; people and clients write less. */
export const MAX_DEPTH = 128;

export interface JsonShape {
  /** Levels of brackets; counted to the first beyond `MAX_DEPTH`. */
  readonly depth: number;
  /** Number of names in all objects together. */
  readonly members: number;
  /** Number of values in all lists and objects together, give or take the brackets around them. */
  readonly values: number;
}

/**
 * Counts brackets, colons and commas outside strings. The result means nothing for text that is not JSON.
 */
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

/** The end of the string that begins at `from`: its last quote, or the end of the text. */
export function skipString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) return end;
  }
  return text.length;
}

/** True if an odd number of backslashes is before a character of a string. */
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
