/** Google's forms: AI Studio embeds many texts in one request; Vertex has one instance for each. */

import { toModelPath } from "../gemini/model-path.ts";
import type { EmbeddingRequest } from "./embedder.ts";
import { type EmbeddingForm, fieldOf, readCount, readVectors } from "./embedding-form.ts";

export const GEMINI_FORM: EmbeddingForm = {
  maxBatch: 100,
  takesTokens: false,
  path: ({ model }) => `/${toModelPath(model)}:batchEmbedContents`,
  encode: (request) => ({
    requests: textsOf(request).map((text) => ({
      // Each entry names the model again, by its path.
      model: request.model.includes("/") ? request.model : `models/${request.model}`,
      content: { parts: [{ text }] },
      ...(request.dimensions === undefined ? {} : { outputDimensionality: request.dimensions }),
      ...(request.inputType === undefined ? {} : { taskType: request.inputType }),
    })),
  }),
  read(answer, { input }) {
    const list = fieldOf(answer, "embeddings");
    const vectors = readVectors(list, input.length, (entry) => fieldOf(entry, "values"));
    // Google's older models do not count tokens.
    const tokens = readCount(fieldOf(fieldOf(answer, "usageMetadata"), "promptTokenCount"));
    return vectors && { vectors, tokens };
  },
};

export const VERTEX_FORM: EmbeddingForm = {
  // Google's newest model takes one text at a time, and all models accept that.
  maxBatch: 1,
  takesTokens: false,
  path: ({ model }) => `/publishers/google/${toModelPath(model)}:predict`,
  encode: (request) => ({
    instances: textsOf(request).map((content) => ({
      content,
      ...(request.inputType === undefined ? {} : { task_type: request.inputType }),
    })),
    parameters:
      request.dimensions === undefined ? {} : { outputDimensionality: request.dimensions },
  }),
  read(answer, { input }) {
    const list = fieldOf(answer, "predictions");
    const vectors = readVectors(list, input.length, (entry) =>
      fieldOf(fieldOf(entry, "embeddings"), "values"),
    );
    const counts = Array.isArray(list)
      ? list.map((entry) =>
          readCount(fieldOf(fieldOf(fieldOf(entry, "embeddings"), "statistics"), "token_count")),
        )
      : [];
    const isCounted = counts.length > 0 && counts.every((count) => count !== undefined);
    const tokens = isCounted ? counts.reduce((sum, count) => sum + (count ?? 0), 0) : undefined;
    return vectors && { vectors, tokens };
  },
};

/** The texts of the input. Tokens are refused before a form is called. */
function textsOf({ input }: EmbeddingRequest): string[] {
  return input.filter((text) => typeof text === "string");
}
