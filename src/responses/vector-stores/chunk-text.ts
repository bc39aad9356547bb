/**
 * Divides a text into overlapping chunks: each as long as allowed, ending at a break of the text if one is near.
 * Tokens are estimated; a tokenizer would be right for one model only.
 */

import { z } from "zod";

export interface Chunking {
  readonly max_chunk_size_tokens: number;
  readonly chunk_overlap_tokens: number;
}

/** The API's own, if a request does not say. */
export const USUAL_CHUNKING: Chunking = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };

const MIN_TOKENS = 100;
const MAX_TOKENS = 4096;

const StaticChunking = z
  .object({
    max_chunk_size_tokens: z.int().min(MIN_TOKENS).max(MAX_TOKENS),
    chunk_overlap_tokens: z.int().min(0),
  })
  .superRefine(({ max_chunk_size_tokens, chunk_overlap_tokens }, context) => {
    if (chunk_overlap_tokens * 2 <= max_chunk_size_tokens) return;
    const message = "must not be more than half of `max_chunk_size_tokens`";
    context.addIssue({ code: "custom", message, path: ["chunk_overlap_tokens"] });
  });

/** `chunking_strategy` of a request. */
export const ChunkingStrategy = z.union([
  z.looseObject({ type: z.literal("auto") }),
  z.looseObject({ type: z.literal("static"), static: StaticChunking }),
]);
export type ChunkingStrategy = z.infer<typeof ChunkingStrategy>;

export function toChunking(strategy: ChunkingStrategy | null | undefined): Chunking {
  return strategy?.type === "static" ? strategy.static : USUAL_CHUNKING;
}

/** A piece of the text that is not divided. */
interface Unit {
  readonly end: number;
  readonly tokens: number;
  /**
   * How good its end is for a cut: the end of a word is 0, of a sentence 1, of a line 2, of a paragraph 3.
   */
  readonly rank: number;
}

/** One after the other, on demand: a large text is never held in pieces. None without words. */
export function* chunkText(text: string, chunking: Chunking): Generator<string> {
  const { max_chunk_size_tokens: max, chunk_overlap_tokens: overlap } = chunking;
  const source = toUnits(text, max);
  let window: Unit[] = [];
  let from = 0;
  for (;;) {
    const isAll = fill(window, source, max);
    const last = isAll ? window.length - 1 : findLast(window, max);
    const chunk = text.slice(from, window[last]?.end).trim();
    if (chunk !== "") yield chunk;
    if (isAll) return;
    const next = findNext(window, last, overlap);
    from = window[next - 1]?.end ?? from;
    window = window.slice(next);
  }
}

/** Takes units until they are more than a chunk holds. True if none is left. */
function fill(window: Unit[], source: Iterator<Unit>, max: number): boolean {
  let tokens = window.reduce((sum, unit) => sum + unit.tokens, 0);
  while (tokens <= max) {
    const { value, done } = source.next();
    if (done) return true;
    window.push(value);
    tokens += value.tokens;
  }
  return false;
}

/** The last unit of the chunk: at the best break of its second half, the last of those. */
function findLast(window: readonly Unit[], max: number): number {
  let tokens = 0;
  let best = 0;
  let bestRank = -1;
  for (const [at, unit] of window.entries()) {
    tokens += unit.tokens;
    if (tokens > max) break;
    if (tokens < max / 2) best = at;
    else if (unit.rank >= bestRank) [best, bestRank] = [at, unit.rank];
  }
  return best;
}

/**
 * The beginning of the next chunk: far enough back to repeat at most `overlap` tokens, but always later than the last
 * one.
 */
function findNext(window: readonly Unit[], last: number, overlap: number): number {
  let tokens = 0;
  let next = last + 1;
  while (next > 1) {
    tokens += window[next - 1]?.tokens ?? 0;
    if (tokens > overlap) break;
    next--;
  }
  return next;
}

/** Words with the characters after them; a word that is too long is divided. */
function* toUnits(text: string, max: number): Generator<Unit> {
  for (const { 0: word, index } of text.matchAll(/\s*\S+\s*/gu)) {
    const tokens = estimateTokens(word);
    if (tokens > MAX_UNIT_TOKENS) yield* cut(word, index, Math.min(max, MAX_UNIT_TOKENS));
    else yield { end: index + word.length, tokens, rank: rankOf(word) };
  }
}

/** Scripts without spaces, encoded data and minified code have words of whole pages. */
const MAX_UNIT_TOKENS = 25;

function cut(word: string, index: number, max: number): Unit[] {
  const units: Unit[] = [];
  let end = index;
  let tokens = 0;
  for (const char of word) {
    end += char.length;
    tokens += costOf(char.codePointAt(0) ?? 0);
    if (tokens < max && !/[。！？]/.test(char)) continue;
    units.push({ end, tokens, rank: /[。！？]/.test(char) ? 1 : 0 });
    tokens = 0;
  }
  const rest = index + word.length;
  if ((units.at(-1)?.end ?? index) < rest) units.push({ end: rest, tokens, rank: rankOf(word) });
  return units;
}

function rankOf(word: string): number {
  const breaks = word.slice(word.trimEnd().length).split("\n").length - 1;
  if (breaks > 0) return breaks > 1 ? 3 : 2;
  return /[.!?。！？]["')\]]*\s*$/.test(word) ? 1 : 0;
}

/**
 * About four characters of Latin script for each token, one and a half of other scripts, one ideograph.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const char of text) tokens += costOf(char.codePointAt(0) ?? 0);
  return tokens;
}

function costOf(code: number): number {
  if (code < 0x250) return 0.25;
  return code < 0x2e80 ? 0.6 : 1;
}
