/**
 * Parses large JSON in slices (`slices.ts`), so that the event loop can do other work. The result is that of
 * `JSON.parse`, which does the work: lists, objects and texts that are long are taken apart here, and what
 * is short is given to it, many neighbours at a time.
 *
 * Measured with bodies of 19 MB on one busy core (total time; longest piece without a turn of the loop):
 *
 * | body | `JSON.parse` | here | a thread, result posted back | `@streamparser/json` 0.0.26 |
 * |---|---|---|---|---|
 * | 9,000 messages | 70 ms; 70 ms | 96 ms; 16 ms | 180 ms; 53 ms | 145 ms; 17 ms |
 * | 74,000 messages | 98 ms; 98 ms | 131 ms; 16 ms | 543 ms; 209 ms | 405 ms; 22 ms |
 * | one text with escapes | 266 ms; 266 ms | 203 ms; 30 ms | 129 ms; 16 ms | 2,616 ms; 741 ms |
 *
 * A thread gives its result back in one piece, which takes longer than parsing. Parsers that are written in
 * JavaScript go through texts character by character.
 */

import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  findStringEnd,
  isEscaped,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from "./json-bytes.ts";
import type { Slices } from "./slices.ts";

/** Bytes that `JSON.parse` gets at once, if they can be split there: 0.1 to 0.5 ms of work. */
const BATCH_BYTES = 64 * 1024;

interface Reading {
  readonly bytes: Buffer;
  readonly slices: Slices;
  /** Where the next thing to read begins. */
  at: number;
  /** The long text that was scanned last: it may be inside many lists, one in the other. */
  text: { readonly start: number; readonly end: number };
}

/**
 * Parses UTF-8 bytes that `measureBytes` has found to be not too deep. Throws a `SyntaxError` if they are
 * not JSON.
 */
export async function parseLargeJson(bytes: Buffer, slices: Slices): Promise<unknown> {
  const reading: Reading = { bytes, slices, at: 0, text: { start: -1, end: -1 } };
  const value = await readValue(reading);
  skipSpace(reading);
  if (reading.at < bytes.length) throw broken();
  return value;
}

async function readValue(reading: Reading): Promise<unknown> {
  skipSpace(reading);
  switch (reading.bytes[reading.at]) {
    case QUOTE:
      return await readText(reading);
    case OPEN_LIST:
      return await readList(reading);
    case OPEN_OBJECT:
      return await readObject(reading);
    default:
      return readWord(reading);
  }
}

async function readList(reading: Reading): Promise<unknown[]> {
  const list: unknown[] = [];
  reading.at++;
  if (closes(reading, CLOSE_LIST)) return list;
  for (;;) {
    if (reading.slices.isOver()) await reading.slices.next();
    const end = findCut(reading);
    if (end < 0) list.push(await readValue(reading));
    else {
      const some = JSON.parse(`[${cutOut(reading, end)}]`) as unknown[];
      // Nothing between two commas, or between a comma and the closing bracket.
      if (some.length === 0) throw broken();
      for (const one of some) list.push(one);
    }
    if (readMark(reading, CLOSE_LIST) === CLOSE_LIST) return list;
  }
}

async function readObject(reading: Reading): Promise<Record<string, unknown>> {
  const object: Record<string, unknown> = {};
  reading.at++;
  if (closes(reading, CLOSE_OBJECT)) return object;
  for (;;) {
    if (reading.slices.isOver()) await reading.slices.next();
    const end = findCut(reading);
    if (end < 0) await readMember(reading, object);
    else {
      const some = JSON.parse(`{${cutOut(reading, end)}}`) as Record<string, unknown>;
      const names = Object.keys(some);
      if (names.length === 0) throw broken();
      for (const name of names) setMember(object, name, some[name]);
    }
    if (readMark(reading, CLOSE_OBJECT) === CLOSE_OBJECT) return object;
  }
}

async function readMember(reading: Reading, object: Record<string, unknown>): Promise<void> {
  skipSpace(reading);
  if (reading.bytes[reading.at] !== QUOTE) throw broken();
  const name = await readText(reading);
  skipSpace(reading);
  if (reading.bytes[reading.at++] !== COLON) throw broken();
  setMember(object, name, await readValue(reading));
}

/** Sets a member as `JSON.parse` does: `__proto__` is a name like any other. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else {
    const options = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, name, options);
  }
}

/**
 * The last place within a batch where the list or object can be split: after a whole member, or where it
 * closes. -1 if the next member alone is longer.
 */
function findCut(reading: Reading): number {
  const { bytes, at } = reading;
  const limit = Math.min(at + BATCH_BYTES, bytes.length);
  let cut = -1;
  let depth = 0;
  for (let here = at; here < limit; here++) {
    switch (bytes[here]) {
      case QUOTE:
        here = endOfText(reading, here);
        break;
      case COMMA:
        if (depth === 0) cut = here;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth++;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (depth-- === 0) return here;
        break;
    }
  }
  return cut;
}

/** The end of a long text. Scans it once, however often it is asked for. */
function endOfText(reading: Reading, start: number): number {
  if (reading.text.start === start) return reading.text.end;
  const end = findStringEnd(reading.bytes, start);
  if (end - start > BATCH_BYTES) reading.text = { start, end };
  return end;
}

/** The text up to `end`; reading continues there. */
function cutOut(reading: Reading, end: number): string {
  const text = reading.bytes.toString("utf8", reading.at, end);
  reading.at = end;
  return text;
}

/** Reads what follows a member: a comma, or the closing bracket. */
function readMark(reading: Reading, close: number): number {
  skipSpace(reading);
  const mark = reading.bytes[reading.at++];
  if (mark !== COMMA && mark !== close) throw broken();
  return mark;
}

/** A text of any length, in pieces that `JSON.parse` reads. */
async function readText(reading: Reading): Promise<string> {
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
function readWord(reading: Reading): unknown {
  const { bytes, at } = reading;
  let end = at;
  while (end < bytes.length && !ENDS_WORD.has(bytes[end] ?? 0)) end++;
  return JSON.parse(cutOut(reading, end)) as unknown;
}

const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09]);
const ENDS_WORD: ReadonlySet<number> = new Set([...SPACES, COMMA, CLOSE_LIST, CLOSE_OBJECT]);

function skipSpace(reading: Reading): void {
  const { bytes } = reading;
  let { at } = reading;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; ) {
    byte = bytes[++at];
  }
  reading.at = at;
}

/** True if a list or object that was just begun is empty. */
function closes(reading: Reading, close: number): boolean {
  skipSpace(reading);
  if (reading.bytes[reading.at] !== close) return false;
  reading.at++;
  return true;
}

function broken(): SyntaxError {
  return new SyntaxError("The text is not JSON.");
}
