/** How much of a conversation is held in memory at most, whoever has kept how much of it. */

import { Failure } from "../../base/failure.ts";

/** What may stand before a request, and what it may refer to: about as much as a request itself may hold. */
export const MAX_CONTEXT_CHARS = 64_000_000;

/** About the characters of a value as JSON. Costs a walk over it, and writes nothing. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + sizeOf(one), 2);
  let size = 2;
  for (const [name, one] of Object.entries(value)) size += name.length + 4 + sizeOf(one);
  return size;
}

/** No model could read that much. */
export function toTooLong(param: "previous_response_id" | "conversation"): Failure {
  const message = `What stands before the request has more than ${MAX_CONTEXT_CHARS} characters. Compact it, or name files by their ids.`;
  return new Failure("context_exceeded", message, { param });
}
