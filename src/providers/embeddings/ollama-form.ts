/** Ollama's own `/api/embed`. */

import { type EmbeddingForm, fieldOf, readCount, readVectors } from "./embedding-form.ts";

export const OLLAMA_FORM: EmbeddingForm = {
  maxBatch: 64,
  takesTokens: false,
  path: () => "/api/embed",
  encode: ({ model, input, dimensions }) => ({
    model,
    input: input.filter((text) => typeof text === "string"),
    // It would else cut a text that is too long and say nothing of it.
    truncate: false,
    ...(dimensions === undefined ? {} : { dimensions }),
  }),
  read(answer, { input }) {
    const vectors = readVectors(fieldOf(answer, "embeddings"), input.length);
    return vectors && { vectors, tokens: readCount(fieldOf(answer, "prompt_eval_count")) };
  },
};
