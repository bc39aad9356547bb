/**
 * Writes large JSON in slices (`slices.ts`), as pieces of UTF-8: the event loop goes on meanwhile, and nobody
 * holds the text and its bytes at once. The bytes are those of `JSON.stringify`, which does the work: what is
 * short is given to it whole.
 */

import { createSlices, type Slices } from "./slices.ts";

/** Characters and values given to `JSON.stringify` at once: 0.1 to 0.5 ms of work. */
const BATCH_WEIGHT = 64 * 1024;
/** Pieces are joined up to this size. */
const PIECE_CHARS = 256 * 1024;

/** What is lighter is written at once: most of what anybody writes. */
export const LARGE_WEIGHT = 256 * 1024;

/** Whether a value is so large that it should be written in slices. Looks no further than it must. */
export function isLarge(value: unknown): boolean {
  return weigh(value, LARGE_WEIGHT) > LARGE_WEIGHT;
}

interface Writing {
  readonly slices: Slices;
  readonly pieces: Buffer[];
  text: string;
}

/** `value` must be what JSON has words for, and not change until it is written. */
export async function writeLargeJson(value: unknown, slices: Slices): Promise<Buffer[]> {
  const writing: Writing = { slices, pieces: [], text: "" };
  await writeValue(writing, value);
  flush(writing);
  return writing.pieces;
}

/** The same as a job of its own. */
export async function writeInSlices(value: unknown, owner: string): Promise<Buffer[]> {
  const slices = createSlices(owner);
  await slices.next();
  return await writeLargeJson(value, slices);
}

async function writeValue(writing: Writing, value: unknown): Promise<void> {
  if (weigh(value, BATCH_WEIGHT) <= BATCH_WEIGHT) await write(writing, JSON.stringify(value));
  else if (typeof value === "string") await writeText(writing, value);
  else if (Array.isArray(value)) await writeList(writing, value);
  else await writeObject(writing, value as Readonly<Record<string, unknown>>);
}

/** Neighbours that are short are written together. */
async function writeList(writing: Writing, list: readonly unknown[]): Promise<void> {
  await write(writing, "[");
  for (let from = 0; from < list.length; ) {
    let to = from;
    for (let room = BATCH_WEIGHT; to < list.length && room > 0; to++) room -= weigh(list[to], room);
    // The last one may be what takes all the room.
    if (to - from > 1) to--;
    if (from > 0) await write(writing, ",");
    if (to - from > 1) await write(writing, JSON.stringify(list.slice(from, to)).slice(1, -1));
    // As `JSON.stringify` has it: a list keeps the places of what JSON has no word for.
    else await writeValue(writing, list[from] === undefined ? null : list[from]);
    from = to;
  }
  await write(writing, "]");
}

async function writeObject(
  writing: Writing,
  object: Readonly<Record<string, unknown>>,
): Promise<void> {
  let mark = "{";
  for (const name of Object.keys(object)) {
    if (object[name] === undefined) continue;
    await write(writing, `${mark}${JSON.stringify(name)}:`);
    await writeValue(writing, object[name]);
    mark = ",";
  }
  await write(writing, mark === "{" ? "{}" : "}");
}

async function writeText(writing: Writing, text: string): Promise<void> {
  await write(writing, '"');
  for (let from = 0; from < text.length; ) {
    const end = from + BATCH_WEIGHT;
    // The halves of a character would be written as escape sequences.
    const to = isFirstHalf(text.charCodeAt(end - 1)) ? end + 1 : end;
    await write(writing, JSON.stringify(text.slice(from, to)).slice(1, -1));
    from = to;
  }
  await write(writing, '"');
}

/** Waits only where the slice is over: most calls cost nothing. */
function write(writing: Writing, text: string): Promise<void> | undefined {
  writing.text += text;
  if (writing.text.length < PIECE_CHARS) return undefined;
  flush(writing);
  return writing.slices.isOver() ? writing.slices.next() : undefined;
}

function flush(writing: Writing): void {
  if (writing.text !== "") writing.pieces.push(Buffer.from(writing.text));
  writing.text = "";
}

/** Characters and values, counted to the first beyond `most`. */
function weigh(value: unknown, most: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return VALUE_WEIGHT;
  let weight = VALUE_WEIGHT;
  if (Array.isArray(value)) {
    for (const one of value) {
      weight += weigh(one, most - weight);
      if (weight > most) return weight;
    }
    return weight;
  }
  for (const name in value) {
    weight += name.length + weigh((value as Record<string, unknown>)[name], most - weight);
    if (weight > most) return weight;
  }
  return weight;
}

/** What a number or a bracket costs beside a character of text, roughly. */
const VALUE_WEIGHT = 8;

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
