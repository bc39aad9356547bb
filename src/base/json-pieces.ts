/**
 * JSON of values that may be very long, in pieces: whoever sends or stores such a value never holds
 * its text and the value at the same time. Most values are short and are written at once.
 */

import { randomUUID } from "node:crypto";

/** In characters: what is shorter is cheaper to write at once. */
const LONG = 1024 * 1024;
/** In characters. A string of this length is still allocated where garbage costs least. */
const PIECE_LENGTH = 64 * 1024;

/** Whether the JSON of `value` has more than about a million characters. Costs no more than it has to look at. */
export function isLong(value: unknown): boolean {
  return weigh(value, LONG) < 0;
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

/**
 * The value that `toJsonPieces` was given, of its pieces. Long texts are read piece by piece, so that the JSON
 * is never there as a whole.
 */
export function parseJsonPieces(pieces: Iterable<string>): unknown {
  let reader: PieceReader | undefined;
  let first: string | undefined;
  for (const piece of pieces) {
    if (first === undefined) {
      first = piece;
      continue;
    }
    // Most are one piece, which needs none of this.
    if (!reader) {
      reader = new PieceReader();
      reader.read(first);
    }
    reader.read(piece);
  }
  return reader ? reader.end() : JSON.parse(first ?? "");
}

/** A text that goes on behind the end of a piece is always a long value: nothing else is cut. */
class PieceReader {
  /** The JSON with a mark in the place of each such text. */
  #json = "";
  /** Not to be found in anybody's text. */
  readonly #mark = randomUUID();
  readonly #texts: string[] = [];
  #open: string | undefined;

  read(piece: string): void {
    const from = this.#open === undefined ? 0 : this.#readOn(piece);
    for (let at = piece.indexOf('"', from); at !== -1; ) {
      const end = endOfText(piece, at + 1);
      if (end === -1) {
        this.#json += piece.slice(from, at);
        this.#open = parseText(piece.slice(at + 1));
        return;
      }
      at = piece.indexOf('"', end + 1);
    }
    this.#json += piece.slice(from);
  }

  /** Returns where the open text ends. */
  #readOn(piece: string): number {
    const end = endOfText(piece, 0);
    this.#open += parseText(end === -1 ? piece : piece.slice(0, end));
    if (end === -1) return piece.length;
    this.#json += `"${this.#mark}${this.#texts.length}"`;
    this.#texts.push(this.#open ?? "");
    this.#open = undefined;
    return end + 1;
  }

  end(): unknown {
    if (this.#texts.length === 0) return JSON.parse(this.#json);
    return JSON.parse(this.#json, (_, value: unknown) => {
      if (typeof value !== "string" || !value.startsWith(this.#mark)) return value;
      return this.#texts[Number(value.slice(this.#mark.length))];
    });
  }
}

/** The place of the quote that ends a text; -1 where it goes on. */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at !== -1; at = json.indexOf('"', at + 1)) {
    let slashes = 0;
    while (at - slashes > from && json.charCodeAt(at - slashes - 1) === 92) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

function parseText(escaped: string): string {
  return JSON.parse(`"${escaped}"`) as string;
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
  if (!isContainer(value)) return room - 1;
  return Array.isArray(value) ? weighList(value, room) : weighFields(value, room);
}

function weighList(values: readonly unknown[], room: number): number {
  let left = room - 2;
  for (let at = 0; at < values.length && left >= 0; at++) left = weigh(values[at], left);
  return left;
}

function weighFields(fields: Readonly<Record<string, unknown>>, room: number): number {
  let left = room - 2;
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
