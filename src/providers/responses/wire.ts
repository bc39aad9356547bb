/** The Responses wire, in both its vocabularies. */

import type { Failure } from "../../base/failure.ts";
import { createSseReader } from "../../base/sse.ts";
import type { OptionName } from "../known-options.ts";
import type { ModelRequest } from "../provider.ts";
import { relaxSchema } from "../relax-schema.ts";
import { streamInstead } from "../stream-instead.ts";
import type { Wire } from "../wire.ts";
import { createDecoder } from "./decode.ts";
import { encodeRequest } from "./encode.ts";

/** The API has neither `stop` nor penalties. */
const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "top_logprobs",
  "verbosity",
  "service_tier",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "metadata",
  "moderation",
]);

export const responsesWire: Wire = {
  name: "openai-responses",
  options: OPTIONS,
  describesFormat: true,
  canAnswerWhole: true,
  path: () => "/responses",
  createReader: createSseReader,
  encode: encodeRequest,
  decoder: createDecoder,
  recover: (request, failure) =>
    toReplay(request, failure) ??
    withoutThoughts(request, failure) ??
    streamInstead(request, failure) ??
    relaxSchema(request, failure),
};

/** Sends the whole conversation to a server that has forgotten the answer we chain to. */
function toReplay(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (!request.previous || failure.vendorCode !== "previous_response_not_found") return undefined;
  return { ...request, previous: undefined, continuation: "replay" };
}

/** Reasoning is sealed for one account. Another account, even of the same vendor, answers without it. */
function withoutThoughts(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (failure.vendorCode !== "invalid_encrypted_content") return undefined;
  const items = request.items.filter(({ type }) => type !== "reasoning");
  if (items.length === request.items.length) return undefined;
  return { ...request, items, previous: undefined, continuation: "replay" };
}
