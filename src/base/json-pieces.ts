/**
 * JSON of values that may be very large, in pieces: whoever sends or stores such a value never holds its
 * text and the value at the same time. Most values are small and are written at once. The text is that of
 * `JSON.stringify`, which does the work: what is short is given to it whole.
 */

import { createSlices, type Slices } from "./slices.ts";

/** What weighs less is written at once: most of what anybody writes. */
const LARGE_WEIGHT = 256 * 1024;
/** In characters: 0.1 to 0.5 ms of work. A string of this length is still allocated where garbage costs least. */
const PIECE_LENGTH = 64 * 1024;
/** What a number or a bracket costs beside a character of text, roughly. */
const VALUE_WEIGHT = 8;

/** Whether a value is so large that it should be written in pieces. Looks no further than it must. */
export function isLarge(value: unknown): boolean {
  return weigh(value, LARGE_WEIGHT) < 0;
}

/** The same of one of several that are large together: a quarter of it is enough. */
export function isLargePart(value: unknown): boolean {
  return weigh(value, PIECE_LENGTH) < 0;
}

/** What `JSON.stringify` makes of the same data, in pieces; no character is cut in two. */
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

/** The same in slices (`slices.ts`): the event loop goes on meanwhile. */
export async function* toJsonSlices(value: unknown, slices: Slices): AsyncGenerator<string, void> {
  for (const piece of toJsonPieces(value)) {
    if (slices.isOver()) await slices.next();
    yield piece;
  }
}

/** The same as a job of its own; `owner` takes turns with others. */
export async function* writeInSlices(value: unknown, owner: string): AsyncGenerator<string, void> {
  const slices = createSlices(owner);
  await slices.next();
  yield* toJsonSlices(value, slices);
}

/** How many bytes that is; nothing of it is kept. */
export async function measureInSlices(value: unknown, owner: string): Promise<number> {
  let bytes = 0;
  for await (const piece of writeInSlices(value, owner)) bytes += Buffer.byteLength(piece);
  return bytes;
}

/** A text in pieces; no character is cut in two, because half of one cannot be written. */
export function* toTextPieces(text: string): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE_LENGTH;
    const to = isFirstHalf(text.charCodeAt(end - 1)) ? end + 1 : end;
    yield text.slice(from, to);
    from = to;
  }
}

/** Subtracts the size of `value` from `room`; stops looking once there is none left. */
function weigh(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length;
  if (!isContainer(value)) return room - VALUE_WEIGHT;
  return Array.isArray(value) ? weighList(value, room) : weighFields(value, room);
}

function weighList(values: readonly unknown[], room: number): number {
  let left = room - VALUE_WEIGHT;
  for (let at = 0; at < values.length && left >= 0; at++) left = weigh(values[at], left);
  return left;
}

function weighFields(fields: Readonly<Record<string, unknown>>, room: number): number {
  let left = room - VALUE_WEIGHT;
  for (const name in fields) {
    left = weigh(fields[name], left - name.length);
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
    // As `JSON.stringify` does.
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
