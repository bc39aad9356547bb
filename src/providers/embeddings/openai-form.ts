/** The form of the `/embeddings` call of OpenAI, most vendors and most local servers. */

import { isJsonObject, type Json } from "../../base/json.ts";
import { type EmbeddingForm, fieldOf, readCount, readVector } from "./embedding-form.ts";

export const OPENAI_FORM: EmbeddingForm = {
  // With this many long vectors, an answer stays within the limit on its size.
  maxBatch: 128,
  takesTokens: true,
  path: () => "/embeddings",
  encode: ({ model, input, dimensions, user, inputType }) => ({
    model,
    input: input.map((text) => (typeof text === "string" ? text : [...text])),
    encoding_format: "float",
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(user === undefined ? {} : { user }),
    ...(inputType === undefined ? {} : { input_type: inputType }),
  }),
  read(answer, { input }) {
    const vectors = readPlaced(fieldOf(answer, "data"), input.length);
    const usage = fieldOf(answer, "usage");
    const tokens = readCount(fieldOf(usage, "total_tokens") ?? fieldOf(usage, "prompt_tokens"));
    return vectors && { vectors, tokens };
  },
};

/**
 * The vectors in the order of their `index`, because they may arrive in another one. Undefined if one is
 * missing.
 */
function readPlaced(
  data: Json | undefined,
  count: number,
): readonly (readonly number[])[] | undefined {
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const placed = new Map<number, readonly number[]>();
  for (const [at, entry] of data.entries()) {
    const vector = isJsonObject(entry) ? readVector(entry["embedding"]) : undefined;
    if (!vector) return undefined;
    const place = fieldOf(entry, "index");
    placed.set(typeof place === "number" ? place : at, vector);
  }
  const vectors = Array.from({ length: count }, (_, at) => placed.get(at));
  return vectors.every((vector) => vector !== undefined) ? vectors : undefined;
}
