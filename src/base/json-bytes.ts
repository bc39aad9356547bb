/** JSON as bytes of UTF-8: what can be learned about it without parsing it. */

import { type JsonShape, MAX_DEPTH } from "./json-shape.ts";
import type { Slices } from "./slices.ts";

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

/** Bytes that are read before the time is checked again. */
const LOOK_BYTES = 64 * 1024;

/** Like `measureJson` of `json-shape.ts`, in slices. Stops after `most` values. */
export async function measureBytes(
  bytes: Buffer,
  slices: Slices,
  most = Number.POSITIVE_INFINITY,
): Promise<JsonShape> {
  const seen = { depth: 0, deepest: 0, members: 0, values: 0 };
  for (let at = 0; at < bytes.length && seen.depth <= MAX_DEPTH && seen.values <= most; ) {
    if (slices.isOver()) await slices.next();
    at = measureTo(bytes, { at, end: Math.min(at + LOOK_BYTES, bytes.length) }, seen);
  }
  return { depth: seen.deepest, members: seen.members, values: seen.values };
}

/** Returns where to continue: at `end`, or after a string that reaches beyond it. */
function measureTo(
  bytes: Buffer,
  { at, end }: { readonly at: number; readonly end: number },
  seen: { depth: number; deepest: number; members: number; values: number },
): number {
  let here = at;
  for (; here < end && seen.depth <= MAX_DEPTH; here++) {
    switch (bytes[here]) {
      case QUOTE:
        here = findStringEnd(bytes, here);
        break;
      case COLON:
        seen.members++;
        break;
      case COMMA:
        seen.values++;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        seen.values++;
        if (++seen.depth > seen.deepest) seen.deepest = seen.depth;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        seen.depth--;
        break;
    }
  }
  return here;
}

/** The end of the string that begins at `from`: its last quote, or the end of the bytes. */
export function findStringEnd(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(QUOTE, from + 1);
  if (end < 0) return bytes.length;
  if (bytes[end - 1] !== BACKSLASH) return end;
  // Forward, byte by byte: each backslash is counted once, however many there are.
  for (let at = from + 1; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at++;
  }
  return bytes.length;
}

/**
 * True if an odd number of backslashes is before `at`. Does not look before `from`, where no escape begins.
 */
export function isEscaped(bytes: Buffer, at: number, from: number): boolean {
  let slashes = 0;
  while (at - 1 - slashes >= from && bytes[at - 1 - slashes] === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}
