/**
 * Finds what a citation of a file is about: the statement before its marker, and the sentence of the file's passages
 * that shares the most words with it. Models only name the file. Pure.
 */

import { clip } from "../../base/text.ts";

export interface TextSpan {
  readonly start_index: number;
  readonly end_index: number;
}

/**
 * Longer sentences are cited from the middle, because their beginning is not needed to find them.
 */
const MAX_STATEMENT_CHARS = 500;

/** The last sentence of a text, with its full stop. */
export function findStatement(text: string): TextSpan {
  const end_index = text.length;
  const from = Math.max(0, end_index - MAX_STATEMENT_CHARS);
  const body = text.slice(from).replace(/[\s.!?…:;]+$/u, "");
  let start_index = from;
  for (const { 0: mark, index } of body.matchAll(/[.!?…]["')\]]*\s+|\n\s*/gu)) {
    start_index = from + index + mark.length;
  }
  return { start_index, end_index };
}

const MAX_QUOTE_CHARS = 300;

/** Finds quotes in passages, which are sorted with the best first. Reads them on first use. */
export function createQuotes(passages: readonly string[]): (statement: string) => string {
  let known: readonly Sentence[] | undefined;
  return (statement) => {
    known ??= passages.flatMap(toSentences);
    const wanted = toWords(statement);
    let best: { readonly text: string; readonly shared: number } | undefined;
    for (const { text, words } of known) {
      let shared = 0;
      for (const word of wanted) if (words.has(word)) shared++;
      if (!best || shared > best.shared) best = { text, shared };
    }
    return clip(best?.text ?? "", MAX_QUOTE_CHARS);
  };
}

interface Sentence {
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

function toSentences(passage: string): Sentence[] {
  const texts = passage.split(/(?<=[.!?…])\s+|\n+/u).map((text) => text.trim());
  return texts.flatMap((text) => (text === "" ? [] : [{ text, words: toWords(text) }]));
}

/** Words of at least two letters: `a` and `I` are everywhere. */
function toWords(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []);
}
