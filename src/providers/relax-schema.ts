/**
 * Sends a refused strict schema again without `strict`.
 *
 * Strict output requires closed objects and no optional properties; most schemas have neither. The answer
 * is validated here in either case.
 */

import type { Failure } from "../base/failure.ts";
import type { ModelRequest } from "./provider.ts";

/** The request to send instead of one whose schema was refused; undefined if this is another failure. */
export function relaxSchema(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  const { format } = request;
  if (format.type !== "json_schema" || !format.strict) return undefined;
  if (failure.code !== "provider_rejected" || !isAboutSchema(failure)) return undefined;
  return { ...request, format: { ...format, strict: false } };
}

function isAboutSchema({ vendorCode, param }: Failure): boolean {
  return vendorCode === "invalid_json_schema" || /format/.test(param ?? "");
}
