/**
 * The contract of a form in which a vendor is asked for embeddings: how one request is written, and how its
 * answer is read. Vendors' forms differ; sending, signing and trying again do not (`ask-embeddings.ts`).
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import type { EmbeddingRequest } from "./embedder.ts";

export interface EmbeddingForm {
  /** Most texts of one request. */
  readonly maxBatch: number;
  /** Whether tokens may stand in place of a text. */
  readonly takesTokens: boolean;
  /** Behind the base URL. */
  path(request: EmbeddingRequest): string;
  encode(request: EmbeddingRequest): Json;
  /** One vector for each text, in their order; undefined where the answer is not that. */
  read(answer: Json | undefined, request: EmbeddingRequest): EmbeddingVectors | undefined;
}

export interface EmbeddingVectors {
  /** As the vendor gave them. */
  readonly vectors: readonly (readonly number[])[];
  /** Undefined where the vendor does not say. */
  readonly tokens: number | undefined;
}

/** A vector of numbers; undefined for anything else. */
export function readVector(value: Json | undefined): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.every(isNumber) ? value : undefined;
}

/** One vector of each entry, by `pick`; undefined where their number is wrong or one is none. */
export function readVectors(
  list: Json | undefined,
  count: number,
  pick: (entry: Json) => Json | undefined = (entry) => entry,
): (readonly number[])[] | undefined {
  if (!Array.isArray(list) || list.length !== count) return undefined;
  const vectors = list.map((entry: Json) => readVector(pick(entry)));
  return vectors.every((vector) => vector !== undefined) ? vectors : undefined;
}

/** A count of tokens; undefined where it is not said, and for what nothing has: 0, or more than can be counted. */
export function readCount(value: Json | undefined): number | undefined {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : undefined;
}

export function fieldOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function isNumber(value: Json): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
