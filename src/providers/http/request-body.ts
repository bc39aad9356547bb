/**
 * Writes the body of a request to a model's server: one text or, if it is large, pieces that are written in
 * slices.
 */

import { isLarge, writeInSlices } from "../../base/json-pieces.ts";

/** Pieces can be sent again, like a text. */
export type RequestBody = string | readonly Uint8Array[];

/**
 * Returns at once for a small body, because waiting costs more than writing it. `owner` takes turns with
 * others.
 */
export function writeBody(body: unknown, owner: string): string | Promise<RequestBody> {
  return isLarge(body) ? writePieces(body, owner) : JSON.stringify(body);
}

async function writePieces(body: unknown, owner: string): Promise<RequestBody> {
  const pieces: Uint8Array[] = [];
  for await (const piece of writeInSlices(body, owner)) pieces.push(Buffer.from(piece));
  return pieces;
}

/** The size of the pieces in bytes. */
export function sizeOfPieces(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((bytes, piece) => bytes + piece.length, 0);
}
