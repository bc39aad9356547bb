/**
 * An estimate of tokens, for a model that has no tokenizer of its own.
 *
 * A word costs one token for every four characters it began, a punctuation mark costs one, and
 * white space is free because it travels with the word after it. English prose comes out within
 * about a tenth of what byte-pair vocabularies count; code and other scripts are further off.
 *
 * Of long texts a beginning is counted, and the rest goes by its length: words of 19 MB took half a second.
 */

const PIECES = /[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

const CHARS_PER_TOKEN = 4;

/** Longer than this, in characters, texts are not counted to their end. */
const MAX_COUNTED = 256 * 1024;
/** What is counted of them. */
const SAMPLE_CHARS = 64 * 1024;

/** Of one text, or of several together. */
export function countTokens(given: string | readonly string[]): number {
  const texts = typeof given === "string" ? [given] : given;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= MAX_COUNTED) return texts.reduce((sum, text) => sum + countAll(text), 0);
  let [tokens, counted] = [0, 0];
  for (const text of texts) {
    const head = text.slice(0, SAMPLE_CHARS - counted);
    tokens += countAll(head);
    counted += head.length;
    if (counted >= SAMPLE_CHARS) break;
  }
  return Math.round((tokens / counted) * length);
}

function countAll(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECES)) tokens += tokensOf(piece);
  return tokens;
}

/** The longest prefix of `text` that costs at most `maxTokens`; cuts inside a long word, never a character. */
export function cutToTokens(text: string, maxTokens: number): string {
  // No character is more than a token.
  if (text.length <= maxTokens) return text;
  let left = Math.max(0, maxTokens);
  for (const match of text.matchAll(PIECES)) {
    const [piece] = match;
    const cost = tokensOf(piece);
    if (cost > left) return text.slice(0, match.index) + headOf(piece, left);
    left -= cost;
  }
  return text;
}

function tokensOf(piece: string): number {
  return Math.ceil(piece.length / CHARS_PER_TOKEN);
}

function headOf(piece: string, tokens: number): string {
  const head = piece.slice(0, tokens * CHARS_PER_TOKEN);
  // A cut between the halves of a surrogate pair would leave half a character.
  return /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head;
}
