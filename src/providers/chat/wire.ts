/** The chat completions wire: what most servers of the field speak. */

import { createSseReader } from "../../base/sse.ts";
import type { OptionName } from "../known-options.ts";
import type { ModelRequest } from "../provider.ts";
import { relaxSchema } from "../relax-schema.ts";
import { streamInstead } from "../stream-instead.ts";
import type { Quirks, Wire } from "../wire.ts";
import { omittedCaching } from "./caching.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import { joinThoughts } from "./join-thoughts.ts";

/**
 * Those of OpenAI's own API; what a compatible server lacks of them is in its vendor's row. `metadata`
 * is taken there only with answers that are stored, and ours are not.
 */
const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "top_logprobs",
  "verbosity",
  "service_tier",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
]);

export const chatWire: Wire = {
  name: "openai-chat",
  options: OPTIONS,
  omits: (request, quirks) => [
    ...(cannotStop(request, quirks) ? ["reasoning.effort"] : []),
    ...omittedCaching(request, quirks),
  ],
  describesFormat: true,
  canAnswerWhole: true,
  path: () => "/chat/completions",
  createReader: createSseReader,
  encode: encodeRequest,
  decoder: ({ options }) => createDecoder(options?.stop),
  recover: (request, failure) =>
    streamInstead(request, failure) ??
    relaxSchema(request, failure) ??
    joinThoughts(request, failure),
};

/** Whether the model would think all the same. */
function cannotStop({ reasoning }: ModelRequest, { effortNone, thinkingOff }: Quirks): boolean {
  return reasoning.effort === "none" && !effortNone && !thinkingOff;
}
