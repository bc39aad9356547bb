/** Google's forms: AI Studio embeds many texts at once, Vertex predicts one instance for each. */

import { toModelPath } from "../gemini/model-path.ts";
import type { EmbeddingRequest } from "./embedder.ts";
import { type EmbeddingForm, fieldOf, readCount, readVectors } from "./embedding-form.ts";

export const GEMINI_FORM: EmbeddingForm = {
  maxBatch: 100,
  takesTokens: false,
  path: ({ model }) => `/${toModelPath(model)}:batchEmbedContents`,
  encode: (request) => ({
    requests: textsOf(request).map((text) => ({
      // Each names the model once more, by its path.
      model: request.model.includes("/") ? request.model : `models/${request.model}`,
      content: { parts: [{ text }] },
      ...(request.dimensions === undefined ? {} : { outputDimensionality: request.dimensions }),
      ...(request.inputType === undefined ? {} : { taskType: request.inputType }),
    })),
  }),
  read(answer, { input }) {
    const list = fieldOf(answer, "embeddings");
    const vectors = readVectors(list, input.length, (entry) => fieldOf(entry, "values"));
    // Its older models count nothing.
    const tokens = readCount(fieldOf(fieldOf(answer, "usageMetadata"), "promptTokenCount"));
    return vectors && { vectors, tokens };
  },
};

export const VERTEX_FORM: EmbeddingForm = {
  // Its newest model takes one text at a time, and all take that.
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

/** Without tokens: those are refused before a form sees them. */
function textsOf({ input }: EmbeddingRequest): string[] {
  return input.filter((text) => typeof text === "string");
}
