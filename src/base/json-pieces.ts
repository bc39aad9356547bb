/**
 * JSON of values that may be very large, in pieces, so that a value and its whole text are never in memory
 * together. Small values, which most are, are written at once. The text is that of `JSON.stringify`, which
 * does the work: it is given everything that is short as a whole.
 */

import { createSlices, type Slices } from "./slices.ts";

/** A value that weighs less is written at once; most values do. */
const LARGE_WEIGHT = 256 * 1024;
/**
 * Length of a piece in characters: 0.1 to 0.5 ms of work. A string of this length is still allocated where
 * garbage costs least.
 */
const PIECE_LENGTH = 64 * 1024;
/** The rough cost of a number or a bracket, compared with one character of text. */
const VALUE_WEIGHT = 8;

/** True for a value so large that it should be written in pieces. Looks no further than it must. */
export function isLarge(value: unknown): boolean {
  return weigh(value, LARGE_WEIGHT) < 0;
}

/** Like `isLarge`, for one of several values that are large together: a quarter of the size is enough. */
export function isLargePart(value: unknown): boolean {
  return weigh(value, PIECE_LENGTH) < 0;
}

/** The text of `JSON.stringify`, in pieces that split no character. */
export function* toJsonPieces(value: unknown): Generator<string, void> {
  let text = "";
  for (const part of tell(value)) {
    text += part;
    if (text.length < PIECE_LENGTH) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

/** Like `toJsonPieces`, in slices (`slices.ts`), so that the event loop can do other work in between. */
export async function* toJsonSlices(value: unknown, slices: Slices): AsyncGenerator<string, void> {
  for (const piece of toJsonPieces(value)) {
    if (slices.isOver()) await slices.next();
    yield piece;
  }
}

/** Like `toJsonSlices`, as a job of its own; `owner` takes turns with others. */
export async function* writeInSlices(value: unknown, owner: string): AsyncGenerator<string, void> {
  const slices = createSlices(owner);
  await slices.next();
  yield* toJsonSlices(value, slices);
}

/** The number of bytes of a value as JSON. Keeps nothing of the text. */
export async function measureInSlices(value: unknown, owner: string): Promise<number> {
  let bytes = 0;
  for await (const piece of writeInSlices(value, owner)) bytes += Buffer.byteLength(piece);
  return bytes;
}

/** A text in pieces that split no character, because half of one cannot be written. */
export function* toTextPieces(text: string): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE_LENGTH;
    const to = isFirstHalf(text.charCodeAt(end - 1)) ? end + 1 : end;
    yield text.slice(from, to);
    from = to;
  }
}

/** Subtracts the size of `value` from `room`; stops when nothing is left. */
function weigh(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length;
  if (!isContainer(value)) return room - VALUE_WEIGHT;
  return Array.isArray(value) ? weighList(value, room) : weighFields(value, room);
}

/** Texts and numbers are weighed in place: most of what is written is one of them, and all of it is weighed. */
function weighList(values: readonly unknown[], room: number): number {
  let left = room - VALUE_WEIGHT;
  for (let at = 0; at < values.length && left >= 0; at++) {
    const value = values[at];
    if (typeof value === "string") left -= value.length;
    else left = typeof value === "object" ? weigh(value, left) : left - VALUE_WEIGHT;
  }
  return left;
}

function weighFields(fields: Readonly<Record<string, unknown>>, room: number): number {
  let left = room - VALUE_WEIGHT;
  for (const name in fields) {
    const value = fields[name];
    left -= name.length;
    if (typeof value === "string") left -= value.length;
    else left = typeof value === "object" ? weigh(value, left) : left - VALUE_WEIGHT;
    if (left < 0) return left;
  }
  return left;
}

function* tell(value: unknown): Generator<string, void> {
  if (typeof value === "string" && value.length > PIECE_LENGTH) yield* quote(value);
  else if (!isContainer(value) || weigh(value, PIECE_LENGTH) >= 0)
    yield JSON.stringify(value) ?? "null";
  else if (Array.isArray(value)) yield* tellList(value);
  else yield* tellFields(value);
}

function* tellList(values: readonly unknown[]): Generator<string, void> {
  let before = "[";
  for (const value of values) {
    yield before;
    yield* tell(value);
    before = ",";
  }
  yield "]";
}

function* tellFields(fields: Record<string, unknown>): Generator<string, void> {
  let before = "{";
  for (const name of Object.keys(fields)) {
    // `JSON.stringify` leaves it out, too.
    if (fields[name] === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* tell(fields[name]);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

function* quote(text: string): Generator<string, void> {
  yield '"';
  for (const piece of toTextPieces(text)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
