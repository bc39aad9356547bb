/**
 * Embeddings of `embedded/offline`: no model, no network. Words and parts of words are counted into a vector
 * by their hashes, so texts that share words are near each other; what they mean is not known here.
 * The same text has the same vector on every machine.
 */

import { Failure } from "../../base/failure.ts";
import { type EmbeddingModel, toUnit } from "../embeddings/embedder.ts";
import { countTokens } from "./count-tokens.ts";

const USUAL_DIMENSIONS = 256;
/** As long as those of the largest models. The vectors are made in this process, which has to hold them all. */
const MAX_DIMENSIONS = 3072;
/** Parts of words find inflected forms, and count less than the words. */
const PART_CHARS = 3;
const PART_WEIGHT = 0.4;

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;

export function createEmbeddedEmbeddings(): EmbeddingModel {
  return {
    takesTokens: false,
    costOf: () => 0,
    async embed({ input, dimensions = USUAL_DIMENSIONS }, { told }) {
      checkDimensions(dimensions);
      const texts = input.filter((text) => typeof text === "string");
      const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
      told?.({ input }, Math.max(1, tokens));
      return texts.map((text) => [...toVector(text, dimensions)]);
    },
  };
}

function checkDimensions(dimensions: number): void {
  if (dimensions <= MAX_DIMENSIONS) return;
  const message = `\`dimensions\` is ${dimensions}. \`embedded\` makes vectors of at most ${MAX_DIMENSIONS} numbers.`;
  throw new Failure("invalid_request", message, { param: "dimensions" });
}

function toVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const add = (feature: string, weight: number): void => {
    const hash = hashOf(feature);
    const at = hash % dimensions;
    // Half of them are taken away, so that what falls together by chance cancels out.
    vector[at] = (vector[at] ?? 0) + (hash >>> 31 === 0 ? weight : -weight);
  };
  for (const [word] of text.normalize("NFKC").toLowerCase().matchAll(WORDS)) {
    add(word, 1);
    const edged = `<${word}>`;
    for (let at = 0; at + PART_CHARS <= edged.length; at++) {
      add(edged.slice(at, at + PART_CHARS), PART_WEIGHT);
    }
  }
  // A text without words is something, too: a vector of nothing is near to nothing.
  if (vector.every((value) => value === 0)) add(text, 1);
  return toUnit(vector);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // Mixed once more: its low and high bits are else too much alike.
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
