/** Limits the part of a conversation that is held in memory. */

import { Failure } from "../../base/failure.ts";

/**
 * The limit on what stands before a request, and on what it refers to: about the size of a request itself.
 */
export const MAX_CONTEXT_CHARS = 64_000_000;

/** More than any model could read. */
export function toTooLong(param: "previous_response_id" | "conversation"): Failure {
  const message = `The conversation before the request has more than ${MAX_CONTEXT_CHARS} characters. Compact it, or name files by their ids.`;
  return new Failure("context_exceeded", message, { param });
}
