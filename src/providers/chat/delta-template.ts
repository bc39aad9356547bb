/**
 * Recognizes chunks that differ from the last parsed one only in their text, by comparing what is around
 * the text. That costs a sixth of parsing (bench/decode.ts).
 *
 * It matches only where parsing would give the same result: a plain string in the same place of the same
 * JSON. For servers that write something new into every chunk, it gives up after a few and leaves them to
 * the parser.
 */

const FIELD = '"content":"';

/** The number of plain text chunks without a match after which it gives up. */
const MAX_MISSES = 16;

export class DeltaTemplate {
  #before = "";
  #after = "";
  #misses = 0;

  /** The text of a chunk that matches; undefined if it must be parsed. */
  read(data: string): string | undefined {
    const from = this.#before.length;
    const to = data.length - this.#after.length;
    if (from === 0 || to <= from) return undefined;
    // Compared as slices: `startsWith` goes through long texts character by character.
    if (data.slice(0, from) !== this.#before || data.slice(to) !== this.#after) return undefined;
    const text = data.slice(from, to);
    return PLAIN.test(text) ? text : undefined;
  }

  /** Learns from a chunk that did not match, was parsed, and had this text and nothing else. */
  learn(data: string, text: string): void {
    if (!PLAIN.test(text) || this.#misses > MAX_MISSES) return;
    this.#before = "";
    if (this.#misses++ === MAX_MISSES) return;
    const from = data.indexOf(FIELD) + FIELD.length;
    // The field must be the only one of its name, and its text must need no escapes.
    if (from < FIELD.length || data.includes(FIELD, from)) return;
    if (data.slice(from, from + text.length + 1) !== `${text}"`) return;
    this.#before = data.slice(0, from);
    this.#after = data.slice(from + text.length);
  }
}

/** Characters that a JSON string does not escape. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\uffff]+$/;
