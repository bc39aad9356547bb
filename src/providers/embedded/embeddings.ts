/**
 * Embeddings of `embedded/offline`, without a model or network. Words and parts of words are counted into a
 * vector by their hashes, so texts that share words are near each other; their meaning is not known. The
 * same text has the same vector on every machine.
 */

import { throwIfAborted } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import { nextTurn } from "../../base/turn.ts";
import { type EmbeddingModel, toUnit } from "../embeddings/embedder.ts";
import { countTokens } from "./count-tokens.ts";

const USUAL_DIMENSIONS = 256;
/**
 * The largest number of dimensions, which is that of the largest models. Vectors are made in this process,
 * which has to hold them all.
 */
const MAX_DIMENSIONS = 3072;
/** The length of parts of words. They find inflected forms, and count less than whole words. */
const PART_CHARS = 3;
const PART_WEIGHT = 0.4;

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * Characters that are read in one go: about two milliseconds of work. Other work, such as health checks,
 * runs between two slices.
 */
const SLICE_CHARS = 32_768;

export function createEmbeddedEmbeddings(): EmbeddingModel {
  return {
    takesTokens: false,
    costOf: () => 0,
    async embed({ input, dimensions = USUAL_DIMENSIONS }, { signal, told }) {
      checkDimensions(dimensions);
      const vectors: number[][] = [];
      let tokens = 0;
      let unrested = 0;
      for (const text of input.filter((one) => typeof one === "string")) {
        const vector = new Float32Array(dimensions);
        for (const slice of toSlices(text)) {
          tokens += countTokens(slice);
          addWords(vector, slice);
          unrested += slice.length;
          // Many short texts cost as much as one long text.
          if (unrested < SLICE_CHARS / 2) continue;
          unrested = 0;
          await nextTurn();
          throwIfAborted(signal);
        }
        vectors.push([...toEnded(vector, text)]);
      }
      told?.({ input }, Math.max(1, tokens));
      return vectors;
    },
  };
}

/** Splits a text before white space, so that no word is in two slices. A word without end is split inside. */
function* toSlices(text: string): Generator<string> {
  let from = 0;
  while (text.length - from > SLICE_CHARS) {
    const to = cutOf(text, from + SLICE_CHARS);
    yield text.slice(from, to);
    from = to;
  }
  yield text.slice(from);
}

const SPACE = /\s/;
/** Longer than the words of any language. */
const MAX_WORD_CHARS = 1000;

function cutOf(text: string, last: number): number {
  for (let at = last; at > last - MAX_WORD_CHARS; at--) {
    if (SPACE.test(text.charAt(at))) return at;
  }
  // Between the halves of a surrogate pair, the cut would leave two invalid characters.
  return /[\uD800-\uDBFF]/.test(text.charAt(last - 1)) ? last - 1 : last;
}

function checkDimensions(dimensions: number): void {
  if (dimensions <= MAX_DIMENSIONS) return;
  const message = `\`dimensions\` is ${dimensions}. \`embedded\` makes vectors of at most ${MAX_DIMENSIONS} numbers.`;
  throw new Failure("invalid_request", message, { param: "dimensions" });
}

function addWords(vector: Float32Array, text: string): void {
  for (const [word] of text.normalize("NFKC").toLowerCase().matchAll(WORDS)) {
    add(vector, word, 1);
    const edged = `<${word}>`;
    for (let at = 0; at + PART_CHARS <= edged.length; at++) {
      add(vector, edged.slice(at, at + PART_CHARS), PART_WEIGHT);
    }
  }
}

function add(vector: Float32Array, feature: string, weight: number): void {
  const hash = hashOf(feature);
  const at = hash % vector.length;
  // Half of the weights are subtracted, so that chance collisions cancel out.
  vector[at] = (vector[at] ?? 0) + (hash >>> 31 === 0 ? weight : -weight);
}

/** A text without words gets a vector too: one without direction would be near to nothing. */
function toEnded(vector: Float32Array, text: string): Float32Array {
  if (vector.every((value) => value === 0)) add(vector, text.slice(0, SLICE_CHARS), 1);
  return toUnit(vector);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // Mixed once more: otherwise its low and high bits are too much alike.
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
