/** Google's `generateContent` API: AI Studio, and Vertex, which differs by its path and a few words. */

import { createSseReader } from "../../base/sse.ts";
import type { Wire } from "../wire.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest, type Host, omitsOf } from "./encode.ts";
import { toModelPath } from "./model-path.ts";
import { OPTIONS } from "./options.ts";
import { recover } from "./recover.ts";

export const geminiWire: Wire = createWire("studio");

/** For a base URL that ends with a project and its location (`google-cloud.ts`). */
export const vertexGeminiWire: Wire = createWire("vertex");

function createWire(host: Host): Wire {
  const publisher = host === "vertex" ? "/publishers/google" : "";
  return {
    name: host === "vertex" ? "vertexai-gemini" : "gemini",
    options: OPTIONS,
    omits: omitsOf,
    path: ({ model }) => `${publisher}/${toModelPath(model)}:streamGenerateContent?alt=sse`,
    createReader: createSseReader,
    encode: (request, quirks) => encodeRequest(request, quirks, host),
    decoder: createDecoder,
    recover,
  };
}
