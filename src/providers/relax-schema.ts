/**
 * A schema that a vendor will not hold its model to is sent once more as a wish.
 *
 * Strict output wants every object closed and every property required; most schemas people write
 * are neither. The answer is validated here in either case.
 */

import type { Failure } from "../base/failure.ts";
import type { ModelRequest } from "./provider.ts";

/** The request to send in place of one whose schema was refused, or none. */
export function relaxSchema(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  const { format } = request;
  if (format.type !== "json_schema" || !format.strict) return undefined;
  if (failure.code !== "provider_rejected" || !isAboutSchema(failure)) return undefined;
  return { ...request, format: { ...format, strict: false } };
}

function isAboutSchema({ vendorCode, param }: Failure): boolean {
  return vendorCode === "invalid_json_schema" || /format/.test(param ?? "");
}
