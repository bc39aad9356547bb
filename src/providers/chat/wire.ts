/** The chat completions wire: what most servers of the field speak. */

import { relaxSchema } from "../relax-schema.ts";
import type { Wire } from "../wire.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";

export const chatWire: Wire = {
  name: "openai-chat",
  path: "/chat/completions",
  encode: encodeRequest,
  decoder: () => createDecoder(),
  recover: relaxSchema,
};
