/** JSON that somebody sent: bounded in depth and in members before it is parsed. */

import { Failure } from "../base/failure.ts";

/** Nothing that a person or a client writes is deeper; parsers and validators recurse. */
const MAX_DEPTH = 128;
/**
 * Names in all objects together. Ten thousand items with their parts have half of it; a million cost
 * seconds, whatever stands behind them, because objects with names of their own share no shape.
 */
const MAX_MEMBERS = 300_000;

/** `what` names it in the refusal: `The body`. Rejects with `invalid_request`. */
export function parseJsonText(text: string, what: string): unknown {
  checkShape(text, what);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Failure("invalid_request", `${what} is no JSON.`, { cause });
  }
}

/** Counts brackets and colons outside strings, which is enough: what is no JSON is refused behind it. */
function checkShape(text: string, what: string): void {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at);
    else if (code === COLON) members++;
    else depth += STEPS[code] ?? 0;
    if (depth > MAX_DEPTH) {
      throw new Failure("invalid_request", `${what} is nested deeper than ${MAX_DEPTH} levels.`);
    }
  }
  if (members > MAX_MEMBERS) {
    throw new Failure("invalid_request", `${what} has more than ${MAX_MEMBERS} names in it.`);
  }
}

/** Where the string that begins at `from` ends. */
function skipString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** How a character changes the depth. */
const STEPS: Readonly<Record<number, number>> = { 123: 1, 91: 1, 125: -1, 93: -1 };
