/** Which form a vendor is asked for embeddings in, by the wire that it is spoken to with. */

import { Failure } from "../../base/failure.ts";
import type { WireName } from "../wires.ts";
import { bedrockForm } from "./bedrock-forms.ts";
import { COHERE_FORM } from "./cohere-form.ts";
import type { EmbeddingForm } from "./embedding-form.ts";
import { GEMINI_FORM, VERTEX_FORM } from "./google-forms.ts";
import { OLLAMA_FORM } from "./ollama-form.ts";
import { OPENAI_FORM } from "./openai-form.ts";

type FindForm = (model: string) => EmbeddingForm;

/** A wire that is not here has no embeddings beside it. */
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

/** Rejects vendors and models that have none. */
export function embeddingFormOf(vendor: string, wire: WireName, model: string): EmbeddingForm {
  const find = FORMS[wire];
  if (find) return find(model);
  const message = `\`${vendor}\` has no embeddings. Ask for a model of a vendor that has: openai, gemini, mistral, cohere, ollama.`;
  throw new Failure("invalid_request", message, { param: "model" });
}
