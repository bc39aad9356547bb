/**
 * Embeddings at Amazon Bedrock, which has no form of its own for them: the models of each maker take that
 * maker's body.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { parseModelId } from "../bedrock/model-id.ts";
import { toPathSegment } from "../path-segment.ts";
import { encodeCohere, MAX_COHERE_BATCH, readCohere } from "./cohere-form.ts";
import { type EmbeddingForm, fieldOf, readCount, readVector } from "./embedding-form.ts";

/** Rejects models of makers whose body is not known here. */
export function bedrockForm(model: string): EmbeddingForm {
  const { maker } = parseModelId(model);
  if (maker === "cohere") return COHERE_FORM;
  if (maker === "amazon" && model.includes("titan-embed")) return TITAN_FORM;
  const message = `Embeddings of \`${clip(model, 80)}\` are not supported. Bedrock has embeddings by models of Amazon Titan and Cohere.`;
  throw new Failure("invalid_request", message, { param: "model" });
}

const path: EmbeddingForm["path"] = ({ model }) => `/model/${toPathSegment(model)}/invoke`;

const TITAN_FORM: EmbeddingForm = {
  maxBatch: 1,
  takesTokens: false,
  path,
  encode: ({ input: [inputText = ""], dimensions }) => ({
    inputText: typeof inputText === "string" ? inputText : "",
    ...(dimensions === undefined ? {} : { dimensions }),
  }),
  read(answer) {
    const vector = readVector(fieldOf(answer, "embedding"));
    const tokens = readCount(fieldOf(answer, "inputTextTokenCount"));
    return vector && { vectors: [vector], tokens };
  },
};

const COHERE_FORM: EmbeddingForm = {
  maxBatch: MAX_COHERE_BATCH,
  takesTokens: false,
  path,
  encode: encodeCohere,
  read: readCohere,
};
