/** JSON that somebody sent: bounded in depth before it is parsed. */

import { Failure } from "../base/failure.ts";

/** Nothing that a person or a client writes is deeper; parsers and validators recurse. */
const MAX_DEPTH = 128;

/** `what` names it in the refusal: `The body`. Rejects with `invalid_request`. */
export function parseJsonText(text: string, what: string): unknown {
  checkDepth(text, what);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Failure("invalid_request", `${what} is no JSON.`, { cause });
  }
}

/** Counts brackets outside strings, which is enough: what is no JSON is refused behind it. */
function checkDepth(text: string, what: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at);
    else depth += STEPS[code] ?? 0;
    if (depth > MAX_DEPTH) {
      throw new Failure("invalid_request", `${what} is nested deeper than ${MAX_DEPTH} levels.`);
    }
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
const BACKSLASH = 0x5c;
/** How a character changes the depth. */
const STEPS: Readonly<Record<number, number>> = { 123: 1, 91: 1, 125: -1, 93: -1 };
