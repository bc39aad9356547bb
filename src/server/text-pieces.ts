/** Long texts on their way to a socket, which keeps a copy of all that it was given and has not sent. */

/** In characters. Most answers are one piece. */
const PIECE_LENGTH = 1024 * 1024;

export function toPieces(text: string): readonly string[] {
  if (text.length <= PIECE_LENGTH) return [text];
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE_LENGTH;
    // Half of a character cannot be written.
    const to = isFirstHalf(text.charCodeAt(end - 1)) ? end + 1 : end;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
