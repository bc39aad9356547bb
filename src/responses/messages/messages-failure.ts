/**
 * Failures in the words that clients of the Messages API act on. A conversation that does not fit is one: told in
 * the vendor's own form, with both numbers, they compact it and go on; told in any other, their session is stuck.
 */

import { Failure } from "../../base/failure.ts";

export interface Overflow {
  /** How many tokens the request has, as we estimate it. */
  readonly estimate: () => number;
  /** The model's window; undefined where nobody knows it. */
  readonly contextTokens: number | undefined;
}

/** Any other failure as it is. */
export function toMessagesFailure(failure: Failure, overflow: Overflow): Failure {
  if (failure.code !== "context_exceeded") return failure;
  const { message } = failure;
  if (/exceed context limit: \d+ \+ \d+ > \d+|prompt is too long: \d+ tokens > \d+/.test(message)) {
    return failure;
  }
  const { has, most } = toNumbers(message, overflow);
  const told = `prompt is too long: ${has} tokens > ${most} maximum`;
  return new Failure("context_exceeded", told, { cause: failure });
}

/** Whoever refused it has counted it: the larger number is the request's. Else our own estimate. */
function toNumbers(
  message: string,
  { estimate, contextTokens }: Overflow,
): { has: number; most: number } {
  const numbers = (message.match(/\d[\d,_]*\d/g) ?? [])
    .map((text) => Number(text.replace(/[,_]/g, "")))
    .filter((number) => number >= LEAST_WINDOW);
  const [most, has] = [Math.min(...numbers), Math.max(...numbers)];
  if (numbers.length > 1 && has > most) return { has, most };
  const window = contextTokens ?? (numbers.length > 0 ? most : undefined);
  const counted = estimate();
  const limit = window ?? Math.max(1, counted - 1);
  return { has: Math.max(counted, limit + 1), most: limit };
}

/** Smaller numbers in such a message are not about windows. */
const LEAST_WINDOW = 1000;
