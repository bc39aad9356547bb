/** Reads pieces of a large JSON text: strings, numbers and words, marks and space. */

import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  findStringEnd,
  isEscaped,
} from "./json-bytes.ts";
import type { Slices } from "./slices.ts";

/** Bytes that `JSON.parse` gets at once, if they can be split there: 0.1 to 0.5 ms of work. */
export const BATCH_BYTES = 64 * 1024;

export interface LargeReading {
  readonly bytes: Buffer;
  readonly slices: Slices;
  /** Where the next thing to read begins. */
  at: number;
  /** The long text that was scanned last: it may be inside many lists, one in the other. */
  text: { readonly start: number; readonly end: number };
}

/** The end of a long text. Scans it once, however often it is asked for. */
export function endOfText(reading: LargeReading, start: number): number {
  if (reading.text.start === start) return reading.text.end;
  const end = findStringEnd(reading.bytes, start);
  if (end - start > BATCH_BYTES) reading.text = { start, end };
  return end;
}

/** The text up to `end`; reading continues there. */
export function cutOut(reading: LargeReading, end: number): string {
  const text = reading.bytes.toString("utf8", reading.at, end);
  reading.at = end;
  return text;
}

/** Reads what follows a member: a comma, or the closing bracket. */
export function readMark(reading: LargeReading, close: number): number {
  skipSpace(reading);
  const mark = reading.bytes[reading.at++];
  if (mark !== COMMA && mark !== close) throw broken();
  return mark;
}

/** A text of any length, in pieces that `JSON.parse` reads. */
export async function readText(reading: LargeReading): Promise<string> {
  const { bytes, slices } = reading;
  const end = endOfText(reading, reading.at);
  if (end >= bytes.length) throw broken();
  let text = "";
  for (reading.at++; reading.at < end; ) {
    if (slices.isOver()) await slices.next();
    const whole = Math.min(reading.at + BATCH_BYTES, end);
    const to = whole === end ? end : findGap(bytes, whole, reading.at);
    // Not joined here: the pieces become one text when it is first read, which is after the bytes are
    // freed.
    text += JSON.parse(`"${cutOut(reading, to)}"`) as string;
  }
  reading.at = end + 1;
  return text;
}

/** The last place up to `at` that is inside neither a character nor an escape sequence; `from` is one. */
function findGap(bytes: Buffer, at: number, from: number): number {
  for (let back = 0; back < LONGEST_ESCAPE; back++) {
    const slash = at - back;
    // `\\u00e9` has six bytes; the second of two backslashes begins nothing.
    if (bytes[slash] === BACKSLASH && !isEscaped(bytes, slash, from)) return slash;
  }
  let gap = at;
  while (((bytes[gap] ?? 0) & 0xc0) === 0x80) gap--;
  return gap;
}

const LONGEST_ESCAPE = 6;

/** A number, `true`, `false` or `null`. */
export function readWord(reading: LargeReading): unknown {
  const { bytes, at } = reading;
  let end = at;
  while (end < bytes.length && !ENDS_WORD.has(bytes[end] ?? 0)) end++;
  return JSON.parse(cutOut(reading, end)) as unknown;
}

const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09]);
const ENDS_WORD: ReadonlySet<number> = new Set([...SPACES, COMMA, CLOSE_LIST, CLOSE_OBJECT]);

export function skipSpace(reading: LargeReading): void {
  const { bytes } = reading;
  let { at } = reading;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; ) {
    byte = bytes[++at];
  }
  reading.at = at;
}

/** True if a list or object that was just begun is empty. */
export function closes(reading: LargeReading, close: number): boolean {
  skipSpace(reading);
  if (reading.bytes[reading.at] !== close) return false;
  reading.at++;
  return true;
}

export function broken(): SyntaxError {
  return new SyntaxError("The text is not JSON.");
}
