/** The form of Cohere's `/v2/embed`, which the same models take at Amazon Bedrock. */

import type { Json, JsonObject } from "../../base/json.ts";
import type { EmbeddingRequest } from "./embedder.ts";
import {
  type EmbeddingForm,
  type EmbeddingVectors,
  fieldOf,
  readCount,
  readVectors,
} from "./embedding-form.ts";

/** The most texts in one request, at both services. */
export const MAX_COHERE_BATCH = 96;

/** The models must know what the vectors are for. This value is for documents that will be searched. */
const USUAL_INPUT_TYPE = "search_document";

export const COHERE_FORM: EmbeddingForm = {
  maxBatch: MAX_COHERE_BATCH,
  takesTokens: false,
  path: () => "/embed",
  encode: (request) => ({
    model: request.model,
    ...encodeCohere(request),
    // Otherwise it would cut a text that is too long without saying so.
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

/** Bedrock does not report tokens. */
export function readCohere(
  answer: Json | undefined,
  { input }: EmbeddingRequest,
): EmbeddingVectors | undefined {
  const vectors = readVectors(toFloats(fieldOf(answer, "embeddings")), input.length);
  const billed = fieldOf(fieldOf(answer, "meta"), "billed_units");
  return vectors && { vectors, tokens: readCount(fieldOf(billed, "input_tokens")) };
}

/** The vectors of a typed answer, or the plain list that older models return. */
function toFloats(embeddings: Json | undefined): Json | undefined {
  return Array.isArray(embeddings) ? embeddings : fieldOf(embeddings, "float");
}
