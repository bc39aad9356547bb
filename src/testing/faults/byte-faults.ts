/** Faults in the bytes of a body. They work on every answer, streamed or not. */

import { isAct, type Piece } from "../exchange/exchange.ts";
import type { Fault, Pieces } from "./fault.ts";

/** Closes the socket after this many bytes of the body. */
export function cutAfter(bytes: number): Fault {
  return { name: "cutAfter", bytes: (pieces) => takeBytes(pieces, bytes, [{ act: "cut" }]) };
}

/** Ends the body after this many bytes, as if it were whole. */
export function endAfter(bytes: number): Fault {
  return { name: "endAfter", bytes: (pieces) => takeBytes(pieces, bytes, []) };
}

/** Sends the body in pieces of this many bytes, each flushed before the next. */
export function pieces(size: number): Fault {
  return { name: "pieces", bytes: mapBytes((bytes) => slices(bytes, size)) };
}

/** Ends every line with CR LF. */
export function crlf(): Fault {
  return { name: "crlf", bytes: mapBytes((bytes) => [endLines(bytes, "\r\n")]) };
}

/** Ends every line with CR alone. */
export function cr(): Fault {
  return { name: "cr", bytes: mapBytes((bytes) => [endLines(bytes, "\r")]) };
}

/** Starts the body with a byte order mark. */
export function bom(): Fault {
  return { name: "bom", bytes: (pieces) => startWith(Buffer.from("\ufeff"), pieces) };
}

/** Changes every run of bytes, and leaves acts on the connection unchanged. */
export function mapBytes(change: (bytes: Buffer) => Iterable<Buffer>): (pieces: Pieces) => Pieces {
  return async function* (pieces) {
    for await (const piece of pieces) {
      if (isAct(piece)) yield piece;
      else yield* change(Buffer.from(piece));
    }
  };
}

/** Sends one more piece, first. */
export async function* startWith(first: Piece, rest: Pieces): Pieces {
  yield first;
  yield* rest;
}

async function* takeBytes(pieces: Pieces, limit: number, last: readonly Piece[]): Pieces {
  let left = limit;
  for await (const piece of pieces) {
    if (isAct(piece)) return yield piece;
    const bytes = Buffer.from(piece);
    if (bytes.length >= left) {
      yield bytes.subarray(0, left);
      return yield* last;
    }
    left -= bytes.length;
    yield bytes;
  }
}

function* slices(bytes: Buffer, size: number): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function endLines(bytes: Buffer, ending: string): Buffer {
  // Latin-1 keeps every byte as it is, so that a frame which ends inside a character survives.
  return Buffer.from(bytes.toString("latin1").replaceAll("\n", ending), "latin1");
}
