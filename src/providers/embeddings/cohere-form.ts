/** Cohere's `/v2/embed`, and the body of the same models at Amazon Bedrock. */

import type { Json, JsonObject } from "../../base/json.ts";
import type { EmbeddingRequest } from "./embedder.ts";
import {
  type EmbeddingForm,
  type EmbeddingVectors,
  fieldOf,
  readCount,
  readVectors,
} from "./embedding-form.ts";

/** More texts are refused, wherever the models are asked. */
export const MAX_COHERE_BATCH = 96;

/** Its models must be told what the vectors are for; this is for what is searched. */
const USUAL_INPUT_TYPE = "search_document";

export const COHERE_FORM: EmbeddingForm = {
  maxBatch: MAX_COHERE_BATCH,
  takesTokens: false,
  path: () => "/embed",
  encode: (request) => ({
    model: request.model,
    ...encodeCohere(request),
    // It would else cut a text that is too long and say nothing of it.
    truncate: "NONE",
  }),
  read: readCohere,
};

export function encodeCohere({ input, dimensions, inputType }: EmbeddingRequest): JsonObject {
  return {
    texts: input.filter((text) => typeof text === "string"),
    input_type: inputType ?? USUAL_INPUT_TYPE,
    embedding_types: ["float"],
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  };
}

/** Bedrock says nothing of tokens. */
export function readCohere(
  answer: Json | undefined,
  { input }: EmbeddingRequest,
): EmbeddingVectors | undefined {
  const vectors = readVectors(toFloats(fieldOf(answer, "embeddings")), input.length);
  const billed = fieldOf(fieldOf(answer, "meta"), "billed_units");
  return vectors && { vectors, tokens: readCount(fieldOf(billed, "input_tokens")) };
}

/** By their types, or, of older models, the vectors alone. */
function toFloats(embeddings: Json | undefined): Json | undefined {
  return Array.isArray(embeddings) ? embeddings : fieldOf(embeddings, "float");
}
