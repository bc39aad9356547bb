/**
 * The wire of Google's `generateContent` API: AI Studio, and Vertex, which differs by its path and a few
 * fields.
 */

import type { Failure } from "../../base/failure.ts";
import { createSseReader } from "../../base/sse.ts";
import { JSON_RULE } from "../json-rule.ts";
import type { ModelRequest } from "../provider.ts";
import type { Wire } from "../wire.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest, type Host, omitsOf } from "./encode.ts";
import { toModelPath } from "./model-path.ts";
import { OPTIONS } from "./options.ts";
import { unsealPart } from "./sealed-part.ts";

export const geminiWire: Wire = createWire("studio");

/** The wire for a base URL that ends with a project and its location (`google-cloud.ts`). */
export const vertexGeminiWire: Wire = createWire("vertex");

function createWire(host: Host): Wire {
  const publisher = host === "vertex" ? "/publishers/google" : "";
  return {
    name: host === "vertex" ? "vertexai-gemini" : "gemini",
    options: OPTIONS,
    limits: { stops: 5, toolNameChars: 128 },
    omits: omitsOf,
    path: ({ model }) => `${publisher}/${toModelPath(model)}:streamGenerateContent?alt=sse`,
    createReader: createSseReader,
    encode: (request, quirks) => encodeRequest(request, quirks, host),
    decoder: createDecoder,
    recover,
  };
}

/**
 * Refusals of Gemini that another form of the request avoids: a signature that this model or service did
 * not make, and a schema that it cannot enforce (too large, or together with functions on older models).
 */
function recover(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (failure.code !== "provider_rejected") return undefined;
  if (/(invalid|corrupted) thought.?signature/i.test(failure.message)) {
    return withoutSignatures(request);
  }
  if (/schema|response mime type/i.test(failure.message)) return withSchemaInWords(request);
  return undefined;
}

function withoutSignatures(request: ModelRequest): ModelRequest | undefined {
  const items = request.items.filter(
    (item) => item.type !== "reasoning" || !unsealPart(item.encrypted_content),
  );
  return items.length < request.items.length ? { ...request, items } : undefined;
}

/** Moves the schema into the instructions. The answer is checked against it here in either case. */
function withSchemaInWords(request: ModelRequest): ModelRequest | undefined {
  const { format, instructions } = request;
  if (format.type === "text") return undefined;
  const rule =
    format.type === "json_schema"
      ? `${JSON_RULE} It fits this JSON schema:\n${JSON.stringify(format.schema)}`
      : JSON_RULE;
  return {
    ...request,
    instructions: instructions === undefined ? rule : `${instructions}\n\n${rule}`,
    format: { type: "text" },
  };
}
