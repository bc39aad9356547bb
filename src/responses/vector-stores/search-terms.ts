/**
 * Turns a question into search terms, and scores texts by them: words of languages that write spaces, pairs of
 * characters for the others.
 *
 * The score is BM25 without the length (chunks are about equally long), as a share of the best possible score: 0 to
 * 1, and independent of what other tenants store.
 */

import type { SearchTerm, WordCounts } from "../../store/chunk-store.ts";

/** More words than a person asks with; each is a lookup in the index. */
const MAX_TERMS = 24;
/** A longer ending makes another word: `cat` does not mean `category`. */
const MAX_ENDING = 3;
/** The weight of a word that differs from the search term only in its ending. */
const INFLECTED = 0.7;
/** How fast repetitions of a word count less: 1 time gives 0.67 of the whole, 3 times 0.86. */
const SATURATION = 0.5;

const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const RUNS = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}\\p{Co}])+`, "gu");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");

export function toTerms(question: string): SearchTerm[] {
  const runs = question.match(RUNS) ?? [];
  const words = runs.filter((run) => !IS_UNSPACED.test(run)).map(fold);
  const telling = words.filter((word) => !COMMON.has(word));
  const chosen = telling.length > 0 || words.length < runs.length ? telling : words;
  const terms = [...new Set(chosen.map(toStem))].map(toWord);
  const pieces = runs.filter((run) => IS_UNSPACED.test(run)).flatMap(toPairs);
  return [...terms, ...[...new Set(pieces)].map(toPiece)].slice(0, MAX_TERMS);
}

/** `counts` are those of the terms in the store. */
export function scoreText(text: string, terms: readonly SearchTerm[], counts: WordCounts): number {
  return score({ text, words: toWords(text) }, terms, counts);
}

/** How well each text fits a question, as a share of the best possible score. */
export function scoreTexts(texts: readonly string[], question: string): number[] {
  const terms = toTerms(question);
  const read = texts.map((text) => ({ text, words: toWords(text) }));
  const counts = terms.map((term) => read.filter((one) => countTerm(one, term) > 0).length);
  return read.map((one) => score(one, terms, { counts, total: texts.length }));
}

/** The weight of each term, by how rare it is. */
export function weighTerms(terms: readonly SearchTerm[], { counts, total }: WordCounts): number[] {
  return terms.map((_, at) => weigh(counts[at] ?? 0, total));
}

interface ReadText {
  readonly text: string;
  readonly words: readonly string[];
}

function score(
  read: ReadText,
  terms: readonly SearchTerm[],
  { counts, total }: WordCounts,
): number {
  let got = 0;
  let most = 0;
  for (const [at, term] of terms.entries()) {
    const weight = weigh(counts[at] ?? 0, total);
    const times = countTerm(read, term);
    got += (weight * times) / (times + SATURATION);
    most += weight;
  }
  return most > 0 ? got / most : 0;
}

function toWords(text: string): string[] {
  return (text.match(RUNS) ?? []).filter((run) => !IS_UNSPACED.test(run)).map(fold);
}

function countTerm({ text, words }: ReadText, term: SearchTerm): number {
  return term.kind === "piece" ? countPiece(text, term.text) : countWord(words, term.text);
}

/** A word that is everywhere says little. */
function weigh(count: number, total: number): number {
  return Math.log(1 + (Math.max(total, count) - count + 0.5) / (count + 0.5));
}

function toWord(stem: string): SearchTerm {
  return { kind: "word", text: stem, prefix: stem.length >= 3 };
}

function toPiece(text: string): SearchTerm {
  return { kind: "piece", text };
}

function toPairs(run: string): string[] {
  const chars = [...run];
  if (chars.length < 2) return chars;
  return chars.slice(1).map((char, at) => `${chars[at]}${char}`);
}

/** English endings only; a word that is too short or not English stays as it is. */
function toStem(word: string): string {
  const stem = word.replace(/(?:ings?|edly|ed|ies|es|s|ly)$/, "");
  return /^[a-z]+$/.test(word) && stem.length >= 3 ? stem : word;
}

function countWord(words: readonly string[], stem: string): number {
  let times = 0;
  for (const word of words) {
    if (word === stem) times += 1;
    else if (stem.length >= 3 && word.startsWith(stem)) {
      times += word.length - stem.length <= MAX_ENDING ? INFLECTED : 0;
    }
  }
  return times;
}

function countPiece(text: string, piece: string): number {
  return text.split(piece).length - 1;
}

/** As the index folds words: without case and accents. */
function fold(word: string): string {
  return word
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
}

/** Words of questions that say nothing about the subject. */
const COMMON: ReadonlySet<string> = new Set(
  "a an and are as at be but by can could did do does for from had has have how i if in into is it its me my of on or our should so than that the their them there these they this to was we were what when where which who whom why will with would you your".split(
    " ",
  ),
);
