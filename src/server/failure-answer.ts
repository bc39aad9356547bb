/** A failure as the API tells it: always `{error: {message, type, param, code}}`, with its status. */

import { FAILURES, type Failure, type FailureCode } from "../base/failure.ts";
import { toToldMessage } from "../base/own-fault.ts";
import type { JsonAnswer, Speaks } from "./route.ts";

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

/** The field at fault, for failures that can be about no other one. */
const PARAMS: Partial<Record<FailureCode, string>> = { model_not_found: "model" };

/** Statuses of `/v1/responses`, where the API has others there than elsewhere. */
const RESPONSES_STATUSES: Partial<Record<FailureCode, number>> = { model_not_found: 400 };

/**
 * Fields of the other API, as requests to an address have them. Models' servers complain about what they
 * were sent, and checks about what a chat became; places in those are not places of the client's request.
 */
const FIELDS: Readonly<Record<Speaks, Fields>> = {
  responses: [
    [/^messages\b.*/, "input"],
    [/^max_(completion_)?tokens$/, "max_output_tokens"],
    [/^response_format\b.*/, "text.format"],
    [/^reasoning_effort$/, "reasoning.effort"],
    [/^verbosity$/, "text.verbosity"],
  ],
  chat: [
    [/^input\b.*/, "messages"],
    [/^max_output_tokens$/, "max_tokens"],
    [/^text\.format\b/, "response_format"],
    [/^reasoning\.effort$/, "reasoning_effort"],
    [/^text\.verbosity$/, "verbosity"],
  ],
};

/** `speaks` is the API of the address that was asked. */
export function toFailureAnswer(failure: Failure, speaks?: Speaks | undefined): JsonAnswer {
  const { code } = failure;
  const isResponses = speaks === "responses";
  const own = isResponses ? RESPONSES_STATUSES[code] : undefined;
  const status = own ?? FAILURES[code].status;
  const param = speaks ? toFieldOf(FIELDS[speaks], failure.param) : failure.param;
  const message = toToldMessage(failure);
  const type = TYPES[code] ?? typeOf(status);
  const error = { message, type, param: param ?? PARAMS[code] ?? null, code: CODES[code] ?? code };
  return { kind: "json", status, body: { error }, headers: toHeaders(failure) };
}

type Fields = readonly (readonly [RegExp, string])[];

function toFieldOf(fields: Fields, param: string | undefined): string | undefined {
  const row = fields.find(([form]) => param !== undefined && form.test(param));
  return row ? param?.replace(row[0], row[1]) : param;
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
