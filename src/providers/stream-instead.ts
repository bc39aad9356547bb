/** Some servers, and some models on others, only stream: an answer in one piece is asked for again so. */

import type { Failure } from "../base/failure.ts";
import type { ModelRequest } from "./provider.ts";

/** The request to send in place of one that was refused for not streaming, or none. */
export function streamInstead(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (!request.whole || failure.code !== "provider_rejected") return undefined;
  if (failure.param !== "stream" && !/\bstream(ing)?\b/i.test(failure.message)) return undefined;
  return { ...request, whole: undefined };
}
