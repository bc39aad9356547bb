/** Cohere's own chat API, version 2: `/v2/chat`. */

import { createSseReader } from "../../base/sse.ts";
import type { Wire } from "../wire.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest, OPTIONS, omitsOf, relaxRequest } from "./encode.ts";

export const cohereWire: Wire = {
  name: "cohere",
  options: OPTIONS,
  limits: { stops: 5 },
  omits: omitsOf,
  canAnswerWhole: true,
  path: () => "/chat",
  createReader: createSseReader,
  encode: encodeRequest,
  decoder: createDecoder,
  recover: relaxRequest,
};
