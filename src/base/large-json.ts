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
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from "./json-bytes.ts";
import {
  BATCH_BYTES,
  broken,
  closes,
  cutOut,
  endOfText,
  type LargeReading,
  readMark,
  readText,
  readWord,
  skipSpace,
} from "./large-json-text.ts";
import type { Slices } from "./slices.ts";

/**
 * Parses UTF-8 bytes that `measureBytes` has found to be not too deep. Throws a `SyntaxError` if they are
 * not JSON.
 */
export async function parseLargeJson(bytes: Buffer, slices: Slices): Promise<unknown> {
  const reading: LargeReading = { bytes, slices, at: 0, text: { start: -1, end: -1 } };
  const value = await readValue(reading);
  skipSpace(reading);
  if (reading.at < bytes.length) throw broken();
  return value;
}

async function readValue(reading: LargeReading): Promise<unknown> {
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

async function readList(reading: LargeReading): Promise<unknown[]> {
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

async function readObject(reading: LargeReading): Promise<Record<string, unknown>> {
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

async function readMember(reading: LargeReading, object: Record<string, unknown>): Promise<void> {
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
function findCut(reading: LargeReading): number {
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
