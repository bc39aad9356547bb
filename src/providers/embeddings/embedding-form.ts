/**
 * The contract of an embedding form: how one request is written for a vendor, and how its answer is read.
 * Forms differ between vendors; sending, signing and retrying do not (`ask-embeddings.ts`).
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import type { EmbeddingRequest } from "./embedder.ts";

export interface EmbeddingForm {
  /** The most texts of one request. */
  readonly maxBatch: number;
  /** True if tokens may be sent in place of a text. */
  readonly takesTokens: boolean;
  /** The path after the base URL. */
  path(request: EmbeddingRequest): string;
  encode(request: EmbeddingRequest): Json;
  /** One vector for each text, in their order; undefined if the answer is invalid. */
  read(answer: Json | undefined, request: EmbeddingRequest): EmbeddingVectors | undefined;
}

export interface EmbeddingVectors {
  /** The vectors unchanged from the vendor. */
  readonly vectors: readonly (readonly number[])[];
  /** Undefined if the vendor does not report them. */
  readonly tokens: number | undefined;
}

/** A vector of numbers; undefined for anything else. */
export function readVector(value: Json | undefined): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.every(isNumber) ? value : undefined;
}

/** The vectors of the entries, read by `pick`; undefined if their number is wrong or one is invalid. */
export function readVectors(
  list: Json | undefined,
  count: number,
  pick: (entry: Json) => Json | undefined = (entry) => entry,
): (readonly number[])[] | undefined {
  if (!Array.isArray(list) || list.length !== count) return undefined;
  const vectors = list.map((entry: Json) => readVector(pick(entry)));
  return vectors.every((vector) => vector !== undefined) ? vectors : undefined;
}

/** A count of tokens; undefined if it is missing or impossible (0, or too large). */
export function readCount(value: Json | undefined): number | undefined {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : undefined;
}

export function fieldOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function isNumber(value: Json): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
