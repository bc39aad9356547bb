/**
 * Checks names from clients that become one part of an address, because it is asked with the operator's
 * key.
 */

import { Failure } from "../base/failure.ts";
import { clip } from "../base/text.ts";

/** Rejects the two names that lead to another address, which no encoding can prevent. */
export function toPathSegment(name: string): string {
  if (name !== "." && name !== "..") return encodeURIComponent(name);
  const message = `\`${clip(name, 10)}\` cannot be part of a model's name at this vendor.`;
  throw new Failure("invalid_request", message, { param: "model" });
}
