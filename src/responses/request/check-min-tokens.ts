/**
 * The least that an answer may be limited to. The Responses API has such a limit and chat completions
 * have none, so it is asked for at the addresses of the one and not where both meet.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";

const MIN_OUTPUT_TOKENS = 16;

/** Rejects with `invalid_request` a body that gives less. What else is wrong with it is for others. */
export function checkMinTokens(body: unknown): void {
  const limit = isJsonObject(body) ? body["max_output_tokens"] : undefined;
  if (typeof limit !== "number" || limit >= MIN_OUTPUT_TOKENS) return;
  const message = `\`max_output_tokens\` must be at least ${MIN_OUTPUT_TOKENS}, not ${limit}.`;
  throw new Failure("invalid_request", message, { param: "max_output_tokens" });
}
