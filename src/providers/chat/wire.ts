/** The chat completions wire, which most servers speak. */

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
 * The options of OpenAI's own API. The row of a vendor names those that its server lacks. `metadata` is
 * accepted only for stored answers, and ours are not stored there.
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

/** True if the model would think although the request turns it off. */
function cannotStop({ reasoning }: ModelRequest, { effortNone, thinkingOff }: Quirks): boolean {
  return reasoning.effort === "none" && !effortNone && !thinkingOff;
}
