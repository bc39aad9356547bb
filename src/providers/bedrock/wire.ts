/** Amazon Bedrock's Converse API: one form for the models of many makers, in AWS frames. */

import type { Failure } from "../../base/failure.ts";
import type { ModelRequest } from "../provider.ts";
import type { Wire } from "../wire.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest, omitsOf } from "./encode.ts";
import { createEventStreamReader } from "./event-stream.ts";
import { OPTIONS } from "./options.ts";

export const bedrockWire: Wire = {
  name: "bedrock",
  options: OPTIONS,
  omits: omitsOf,
  path: ({ model }) => `/model/${encodeURIComponent(model)}/converse-stream`,
  headers: () => ({ accept: "application/vnd.amazon.eventstream" }),
  createReader: createEventStreamReader,
  encode: encodeRequest,
  decoder: createDecoder,
  recover,
};

/**
 * Two wishes that not every model knows are given up when they are refused: to hold the answer to a
 * schema, which then becomes a tool's, and not to think. The vendor says what it refuses in words only.
 */
function recover(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (failure.code !== "provider_rejected") return undefined;
  const { format, reasoning } = request;
  if (format.type === "json_schema" && format.strict && SCHEMA_WORDS.test(failure.message)) {
    return { ...request, format: { ...format, strict: false } };
  }
  if (reasoning.effort === "none" && /thinking/i.test(failure.message)) {
    return { ...request, reasoning: { ...reasoning, effort: undefined } };
  }
  return undefined;
}

const SCHEMA_WORDS = /output_?config|text_?format|output_?format|structured output|schema/i;
