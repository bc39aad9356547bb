/** Bytes as they are stored: in pieces of a megabyte, however they come. */

/** A larger row makes all other writers wait; smaller ones make a large file many rows. */
const PIECE_BYTES = 1024 * 1024;

/** All pieces are full except the last, and none is empty. The caller owns each; this holds one at a time. */
export async function* toPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.byteLength; ) {
      const part = chunk.subarray(from, from + PIECE_BYTES - filled);
      piece.set(part, filled);
      filled += part.byteLength;
      from += part.byteLength;
      if (filled < PIECE_BYTES) continue;
      yield piece;
      piece = new Uint8Array(PIECE_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}
