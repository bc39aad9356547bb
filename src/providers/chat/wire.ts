/** The chat completions wire: what most servers of the field speak. */

import { createSseReader } from "../../base/sse.ts";
import { relaxSchema } from "../relax-schema.ts";
import type { Wire } from "../wire.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";

export const chatWire: Wire = {
  name: "openai-chat",
  path: () => "/chat/completions",
  createReader: createSseReader,
  encode: encodeRequest,
  decoder: () => createDecoder(),
  recover: relaxSchema,
};
