/** Retries a whole answer as a stream: some servers, and some models on others, only stream. */

import type { Failure } from "../base/failure.ts";
import type { ModelRequest } from "./provider.ts";

/**
 * The request to send instead of one that was refused for not streaming; undefined if this is another
 * failure.
 */
export function streamInstead(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (!request.whole || failure.code !== "provider_rejected") return undefined;
  if (failure.param !== "stream" && !/\bstream(ing)?\b/i.test(failure.message)) return undefined;
  return { ...request, whole: undefined };
}
