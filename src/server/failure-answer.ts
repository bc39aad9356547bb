/** A failure as the API tells it: always `{error: {message, type, param, code}}`, with its status. */

import { FAILURES, type Failure, type FailureCode } from "../base/failure.ts";
import { toToldMessage } from "../base/own-fault.ts";
import type { JsonAnswer } from "./route.ts";

/** Where the failure's own code is not the word that clients of the API know. */
const CODES: Partial<Record<FailureCode, string>> = {
  provider_overloaded: "rate_limit_exceeded",
  context_exceeded: "context_length_exceeded",
  rate_limited: "rate_limit_exceeded",
  budget_exceeded: "insufficient_quota",
  unauthorized: "invalid_api_key",
  connector_failed: "http_error",
};

/** Where the API's own type is not that of the status. */
const TYPES: Partial<Record<FailureCode, string>> = {
  model_not_found: "invalid_request_error",
};

/** Statuses that clients of the API act on, where those of the table are for people. */
const STATUSES: Partial<Record<FailureCode, number>> = {
  provider_overloaded: 429,
  budget_exceeded: 429,
  // The key that is missing or wrong is this server's, and nothing that the client can mend.
  key_missing: 503,
  provider_unauthorized: 502,
};

export function toFailureAnswer(failure: Failure): JsonAnswer {
  const { code, param } = failure;
  const status = STATUSES[code] ?? FAILURES[code].status;
  const message = toToldMessage(failure);
  const type = TYPES[code] ?? typeOf(status);
  const error = { message, type, param: param ?? null, code: CODES[code] ?? code };
  return { kind: "json", status, body: { error }, headers: toHeaders(failure) };
}

/** Longer than clients wait by themselves: they would ask again and again for nothing. */
const LONG_WAIT_MS = 60_000;
const LIMITS: ReadonlySet<FailureCode> = new Set<FailureCode>(["budget_exceeded", "rate_limited"]);

function toHeaders({ code, retryAfterMs }: Failure): Record<string, string> {
  const isVain = LIMITS.has(code) && (retryAfterMs ?? Number.POSITIVE_INFINITY) > LONG_WAIT_MS;
  const vain: Record<string, string> = isVain ? { "x-should-retry": "false" } : {};
  if (retryAfterMs === undefined) return vain;
  return { ...vain, "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 404) return "not_found_error";
  if (status === 424) return "external_connector_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
