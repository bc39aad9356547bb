/** The wire of Amazon Bedrock's Converse API: one form for the models of many makers, in AWS frames. */

import type { Failure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import { toPathSegment } from "../path-segment.ts";
import type { ModelRequest } from "../provider.ts";
import type { Wire } from "../wire.ts";
import { isUnsigned, unsealReasoning } from "./blocks.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest, omitsOf } from "./encode.ts";
import { createEventStreamReader } from "./event-stream.ts";
import { parseModelId } from "./model-id.ts";
import { OPTIONS } from "./options.ts";

export const bedrockWire: Wire = {
  name: "bedrock",
  options: OPTIONS,
  limits: { toolNameChars: 64 },
  omits: omitsOf,
  path: ({ model }) => `/model/${toPathSegment(model)}/converse-stream`,
  headers: () => ({ accept: "application/vnd.amazon.eventstream" }),
  createReader: createEventStreamReader,
  encode: encodeRequest,
  decoder: createDecoder,
  recover,
};

/**
 * Relaxes a request after a refusal. Not every model supports these: to bind the answer to a schema (the
 * schema then becomes a tool's), not to think, and to get its own unsigned reasoning back. The vendor names
 * what it refuses in words only.
 */
function recover(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (failure.code !== "provider_rejected") return undefined;
  const { format, reasoning } = request;
  if (format.type === "json_schema" && format.strict && SCHEMA_WORDS.test(failure.message)) {
    return { ...request, format: { ...format, strict: false } };
  }
  if (/reasoning/i.test(failure.message)) {
    const items = request.items.filter((item) => !isUnsignedItem(item, request));
    if (items.length < request.items.length) return { ...request, items };
  }
  if (reasoning.effort === "none" && /thinking/i.test(failure.message)) {
    return { ...request, reasoning: { ...reasoning, effort: undefined } };
  }
  return undefined;
}

const SCHEMA_WORDS = /output_?config|text_?format|output_?format|structured output|schema/i;

function isUnsignedItem(item: Item, { model }: ModelRequest): boolean {
  if (item.type !== "reasoning") return false;
  const content = unsealReasoning(item.encrypted_content, parseModelId(model).maker);
  return content !== undefined && isUnsigned(content);
}
