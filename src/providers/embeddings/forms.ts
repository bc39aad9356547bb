/** Finds the embedding form of a vendor, by its wire. */

import { Failure } from "../../base/failure.ts";
import type { WireName } from "../wire.ts";
import { bedrockForm } from "./bedrock-forms.ts";
import { COHERE_FORM } from "./cohere-form.ts";
import type { EmbeddingForm } from "./embedding-form.ts";
import { fieldOf, readCount, readVectors } from "./embedding-form.ts";
import { GEMINI_FORM, VERTEX_FORM } from "./google-forms.ts";
import { OPENAI_FORM } from "./openai-form.ts";

type FindForm = (model: string) => EmbeddingForm;

/** The forms by wire. A wire that is not here has no embeddings. */
const FORMS: Readonly<Partial<Record<WireName, FindForm>>> = {
  "openai-chat": () => OPENAI_FORM,
  "openai-responses": () => OPENAI_FORM,
  llamacpp: () => OPENAI_FORM,
  gemini: () => GEMINI_FORM,
  "vertexai-gemini": () => VERTEX_FORM,
  ollama: () => OLLAMA_FORM,
  cohere: () => COHERE_FORM,
  bedrock: bedrockForm,
};

/** Rejects vendors and models without embeddings. */
export function embeddingFormOf(vendor: string, wire: WireName, model: string): EmbeddingForm {
  const find = FORMS[wire];
  if (find) return find(model);
  const message = `\`${vendor}\` has no embeddings. Use a model of a vendor that has them: openai, gemini, mistral, cohere, ollama.`;
  throw new Failure("invalid_request", message, { param: "model" });
}

/** The form of Ollama's own `/api/embed`. */
const OLLAMA_FORM: EmbeddingForm = {
  maxBatch: 64,
  takesTokens: false,
  path: () => "/api/embed",
  encode: ({ model, input, dimensions }) => ({
    model,
    input: input.filter((text) => typeof text === "string"),
    // Otherwise it would cut a text that is too long without saying so.
    truncate: false,
    ...(dimensions === undefined ? {} : { dimensions }),
  }),
  read(answer, { input }) {
    const vectors = readVectors(fieldOf(answer, "embeddings"), input.length);
    return vectors && { vectors, tokens: readCount(fieldOf(answer, "prompt_eval_count")) };
  },
};
