/**
 * How a vendor rejects a request: a status and `{error: {message, type, param, code}}`. The words follow those of the
 * real API, so that a client which reads them is tested on them.
 *
 * Checks are generators that yield every rejection they find; the first one is the answer.
 */

import type { Json } from "../../base/json.ts";
import { type Exchange, textExchange } from "./exchange.ts";

export interface Rejection {
  readonly status: number;
  readonly error: VendorError;
}

interface VendorError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

export type RequestCheck = Generator<Rejection, void>;

export function firstOf(check: Iterable<Rejection>): Rejection | undefined {
  for (const rejection of check) return rejection;
  return undefined;
}

export function rejectionExchange({ status, error }: Rejection): Exchange {
  return textExchange(status, JSON.stringify({ error }), { "content-type": "application/json" });
}

/** A 400, unless `status` says otherwise. */
export function reject(
  message: string,
  more: { param?: string; code?: string; status?: number; type?: string } = {},
): Rejection {
  const { param = null, code = null, status = 400, type = "invalid_request_error" } = more;
  return { status, error: { message, type, param, code } };
}

export function serverError(message: string, status = 500): Rejection {
  return reject(message, { status, type: "server_error" });
}

export function unknownParameter(param: string): Rejection {
  return reject(`Unknown parameter: '${param}'.`, { param, code: "unknown_parameter" });
}

export function missing(param: string): Rejection {
  return reject(`Missing required parameter: '${param}'.`, {
    param,
    code: "missing_required_parameter",
  });
}

/** `value` is not one of `known`. */
export function invalidValue(
  param: string,
  value: Json | undefined,
  known: readonly string[],
): Rejection {
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  const message = `Invalid value: '${shown}'. Supported values are: ${listed(known)}.`;
  return reject(message, { param, code: "invalid_value" });
}

export function invalidType(param: string, expected: string, value: Json | undefined): Rejection {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${kindOf(value)} instead.`;
  return reject(message, { param, code: "invalid_type" });
}

export function unsupportedParameter(param: string, hint = ""): Rejection {
  const message = `Unsupported parameter: '${param}' is not supported with this model.${hint}`;
  return reject(message, { param, code: "unsupported_parameter" });
}

/** `'a', 'b', and 'c'`. */
export function listed(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  if (quoted.length < 3) return quoted.join(" and ");
  return `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`;
}

function kindOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
