/** How much of a conversation is held in memory at most, whoever has kept how much of it. */

import { Failure } from "../../base/failure.ts";

/** What may stand before a request, and what it may refer to: about as much as a request itself may hold. */
export const MAX_CONTEXT_CHARS = 64_000_000;

/** No model could read that much. */
export function toTooLong(param: "previous_response_id" | "conversation"): Failure {
  const message = `What stands before the request has more than ${MAX_CONTEXT_CHARS} characters. Compact it, or name files by their ids.`;
  return new Failure("context_exceeded", message, { param });
}
