/**
 * The chunks of one stream, which mostly differ in nothing but a few characters of text: once one was
 * parsed, the next are told by what stands around their text, at a sixth of the cost (bench/decode.ts).
 *
 * It says yes only where parsing would say the same: a plain string in the same place of the same JSON.
 * Servers that write something new into every chunk are left to the parser after a few.
 */

const FIELD = '"content":"';

/** Chunks of plain text that did not fit before it is given up. */
const MAX_MISSES = 16;

export class DeltaTemplate {
  #before = "";
  #behind = "";
  #misses = 0;

  /** The text of a chunk that fits; undefined for one that must be parsed. */
  read(data: string): string | undefined {
    const from = this.#before.length;
    const to = data.length - this.#behind.length;
    if (from === 0 || to <= from) return undefined;
    // Compared as slices: `startsWith` goes through long texts character by character.
    if (data.slice(0, from) !== this.#before || data.slice(to) !== this.#behind) return undefined;
    const text = data.slice(from, to);
    return PLAIN.test(text) ? text : undefined;
  }

  /** Takes a chunk that did not fit, was parsed, and meant this text and nothing else. */
  learn(data: string, text: string): void {
    if (!PLAIN.test(text) || this.#misses > MAX_MISSES) return;
    this.#before = "";
    if (this.#misses++ === MAX_MISSES) return;
    const from = data.indexOf(FIELD) + FIELD.length;
    // The only field of that name, and written as it is read.
    if (from < FIELD.length || data.includes(FIELD, from)) return;
    if (data.slice(from, from + text.length + 1) !== `${text}"`) return;
    this.#before = data.slice(0, from);
    this.#behind = data.slice(from + text.length);
  }
}

/** Nothing in it that a string of JSON must write otherwise. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\uffff]+$/;
