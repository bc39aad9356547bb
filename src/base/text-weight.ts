/**
 * How much a text counts when its tokens are estimated from its length. Most letters have several characters for each
 * token; Chinese, Japanese, Korean and emoji have about one.
 */

/** How many ordinary letters have as many tokens as one wide character. */
const WIDE_WEIGHT = 3;
/** The first of the CJK blocks. Nearly everything from here on is a letter of these scripts, or half an emoji. */
const FIRST_WIDE = 0x2e80;
/** A longer text is judged by this many of its characters, so that its length costs nothing. */
const SAMPLES = 256;

/** The length of the text, as if it had only ordinary letters. */
export function weighText(text: string): number {
  const { length } = text;
  // A whole number: with fractions the loop takes several times as long.
  const step = Math.ceil(length / SAMPLES);
  let wide = 0;
  for (let at = 0; at < length; at += step) if (text.charCodeAt(at) >= FIRST_WIDE) wide++;
  return wide === 0 ? length : length + Math.min(length, wide * step) * (WIDE_WEIGHT - 1);
}
