/**
 * Turns a failure into an answer in the API's form: always `{error: {message, type, param, code}}`, with its status.
 */

import { FAILURES, type Failure, type FailureCode } from "../base/failure.ts";
import { makeId } from "../base/ids.ts";
import { toToldMessage } from "../base/server-fault.ts";
import { NO_THREADS } from "../responses/messages/parse-messages.ts";
import type { JsonAnswer, Speaks } from "./route.ts";

/** Error codes that clients of the API know, where they differ from the failure's own code. */
const CODES: Partial<Record<FailureCode, string>> = {
  provider_overloaded: "rate_limit_exceeded",
  context_exceeded: "context_length_exceeded",
  rate_limited: "rate_limit_exceeded",
  budget_exceeded: "insufficient_quota",
  unauthorized: "invalid_api_key",
  connector_failed: "http_error",
};

/** Error types of the API, where they differ from the type that the status implies. */
const TYPES: Partial<Record<FailureCode, string>> = {
  model_not_found: "invalid_request_error",
};

/** The field at fault, for failures that can concern only that field. */
const PARAMS: Partial<Record<FailureCode, string>> = { model_not_found: "model" };

/** Statuses of `/v1/responses`, where they differ from those of other addresses. */
const RESPONSES_STATUSES: Partial<Record<FailureCode, number>> = { model_not_found: 400 };

/**
 * Names of fields in the other APIs. Vendors' servers complain about the request that they got, and our checks about
 * the request that a chat was turned into. Places in those requests are not places of the client's request.
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
  mcp: [],
  messages: [
    [/^input\b.*/, "messages"],
    [/^max_output_tokens$/, "max_tokens"],
    [/^instructions$/, "system"],
    [/^stop$/, "stop_sequences"],
    [/^text\.format\b/, "output_config.format"],
    [/^reasoning\.effort$/, "output_config.effort"],
  ],
};

/**
 * `speaks` is the API of the requested address; the client can report the failure with `requestId`.
 */
export function toFailureAnswer(
  failure: Failure,
  speaks?: Speaks | undefined,
  requestId?: string | undefined,
): JsonAnswer {
  if (speaks === "messages") return toMessagesAnswer(failure, requestId);
  if (speaks === "mcp") return toMcpAnswer(failure);
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

/** Codes of JSON-RPC: an invalid request, and the first code that is free for servers. */
const RPC_INVALID_REQUEST = -32_600;
const RPC_SERVER_ERROR = -32_000;

/** The failure of a whole HTTP request over MCP. Which message caused it is not known. */
export function toMcpAnswer(failure: Failure, rpcCode?: number): JsonAnswer {
  const { code } = failure;
  const usual = code === "invalid_request" ? RPC_INVALID_REQUEST : RPC_SERVER_ERROR;
  const data = { code: CODES[code] ?? code };
  const error = { code: rpcCode ?? usual, message: toToldMessage(failure), data };
  const body = { jsonrpc: "2.0", id: null, error };
  return { kind: "json", status: FAILURES[code].status, body, headers: toHeaders(failure) };
}

/** Statuses of the Messages API, where its clients expect another one than the table's. */
const MESSAGES_STATUSES: Partial<Record<FailureCode, number>> = {
  provider_overloaded: 529,
  connector_failed: 400,
};

function toMessagesAnswer(failure: Failure, requestId = makeId("req")): JsonAnswer {
  const status = MESSAGES_STATUSES[failure.code] ?? FAILURES[failure.code].status;
  const headers = { ...toHeaders(failure), "request-id": requestId };
  const body = { ...toMessagesError(failure), request_id: requestId };
  return { kind: "json", status, body, headers };
}

/** The Messages API's form: `{type: "error", error: {type, message}}`. */
export function toMessagesError(failure: Failure): {
  type: "error";
  error: { type: string; message: string };
} {
  const { code, param } = failure;
  const status = MESSAGES_STATUSES[code] ?? FAILURES[code].status;
  const message = toToldMessage(failure);
  const field = toFieldOf(FIELDS.messages, param);
  // The error has no field for the parameter, so a message that does not name it gets its name added.
  const isNamed = field === undefined || message.includes(field) || code === "context_exceeded";
  const told = isNamed ? message : `${field}: ${message}`;
  const unsupported = { error_code: NO_THREADS, unsupported: ["thread"] };
  const details = failure.vendorCode === NO_THREADS ? { details: unsupported } : {};
  const { retryable } = FAILURES[code];
  const type = messagesTypeOf(status, retryable);
  return { type: "error", error: { type, message: told, ...details } };
}

const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function messagesTypeOf(status: number, retryable: boolean): string {
  // `overloaded_error` would tell clients to ask again.
  if (status === 503 && !retryable) return "api_error";
  return MESSAGES_TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

type Fields = readonly (readonly [RegExp, string])[];

function toFieldOf(fields: Fields, param: string | undefined): string | undefined {
  const row = fields.find(([form]) => param !== undefined && form.test(param));
  return row ? param?.replace(row[0], row[1]) : param;
}

/**
 * A wait that is longer than clients wait by themselves: they would ask again and again without success.
 */
const LONG_WAIT_MS = 60_000;
const LIMITS: ReadonlySet<FailureCode> = new Set<FailureCode>(["budget_exceeded", "rate_limited"]);

function toHeaders(failure: Failure): Record<string, string> {
  const { retryAfterMs } = failure;
  const vain: Record<string, string> = isVain(failure) ? { "x-should-retry": "false" } : {};
  if (retryAfterMs === undefined) return vain;
  return { ...vain, "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}

/** True for a failure that clients would ask again after, by its status, and that asking again does not help. */
function isVain({ code, retryAfterMs }: Failure): boolean {
  if (LIMITS.has(code)) return (retryAfterMs ?? Number.POSITIVE_INFINITY) > LONG_WAIT_MS;
  const { status, retryable } = FAILURES[code];
  return status >= 500 && !retryable && retryAfterMs === undefined;
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 404) return "not_found_error";
  if (status === 424) return "external_connector_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
