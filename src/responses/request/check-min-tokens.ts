/**
 * Checks the smallest limit on an answer's tokens. The Responses API has such a minimum and chat completions have
 * none, so only the addresses of the Responses API check it.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";

const MIN_OUTPUT_TOKENS = 16;

/**
 * Rejects with `invalid_request` a body with a smaller limit. Other errors of the body are reported elsewhere.
 */
export function checkMinTokens(body: unknown): void {
  const limit = isJsonObject(body) ? body["max_output_tokens"] : undefined;
  if (typeof limit !== "number" || limit >= MIN_OUTPUT_TOKENS) return;
  const message = `\`max_output_tokens\` must be at least ${MIN_OUTPUT_TOKENS}, not ${limit}.`;
  throw new Failure("invalid_request", message, { param: "max_output_tokens" });
}
