/**
 * Turns errors of a vendor into a `Failure` that tells the user what to do.
 *
 * The only place that reads vendors' error bodies. A body is shortened here, because some servers answer
 * with a page of HTML, and secrets are removed, because some repeat the key: a failure is also stored.
 */

import { Failure, type FailureCode, toFailure } from "../base/failure.ts";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../base/json.ts";
import type { Redact } from "../base/redact.ts";
import { clip } from "../base/text.ts";
import { readRetryAfter } from "./limits/rate-limit-headers.ts";

const MAX_MESSAGE_CHARS = 400;

interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** The failure of a request that names a model, which may not exist. */
export function toModelFailure(who: string, answer: HttpAnswer): Failure {
  const failure = toHttpFailure(who, answer);
  const { message } = readError(tryParseJson(answer.body) ?? answer.body);
  if (failure.code !== "provider_rejected" || !isMissingModel(answer.status, failure, message)) {
    return failure;
  }
  const { vendorCode, retryAfterMs } = failure;
  const details = { vendorCode, retryAfterMs, param: "model" };
  return new Failure("model_not_found", failure.message, details);
}

const MISSING_CODES: ReadonlySet<string> = new Set(["model_not_found", "DeploymentNotFound"]);

/**
 * True if a 404 is about the model. Some vendors have no code for it, but the message names a model; that
 * of a wrong address does not.
 */
function isMissingModel(status: number, { vendorCode }: Failure, message: string): boolean {
  if (vendorCode && MISSING_CODES.has(vendorCode)) return true;
  if (/provided model identifier is invalid/i.test(message)) return true;
  return status === 404 && /\bmodels?\b/i.test(message);
}

/** The failure of an HTTP answer that is not a success. `who` names the vendor. */
export function toHttpFailure(who: string, answer: HttpAnswer): Failure {
  const { status, headers, body } = answer;
  const parsed = tryParseJson(body) ?? body;
  const { message, code, param } = readError(parsed);
  const vendorCode = code ?? awsErrorType(headers);
  const retryAfterMs = readRetryAfter(headers) ?? readRetryInfo(parsed);
  const advice =
    AWS_ADVICE[vendorCode ?? ""] ??
    (adviceFor(status, retryAfterMs) || redirectAdvice(status, headers["location"]));
  const text = `${who} answered ${status}: ${message || "no message"}${advice}`;
  return new Failure(codeFor(status, vendorCode, message), text, {
    vendorCode,
    param,
    retryAfterMs,
  });
}

/** Reads a header like `x-amzn-errortype: ValidationException:http://internal.amazon.com/…`. */
function awsErrorType(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  return headers["x-amzn-errortype"]?.split(":")[0];
}

const AWS_ADVICE: Readonly<Record<string, string>> = {
  ExpiredTokenException: " Sign in to AWS again, or renew the session token.",
  UnrecognizedClientException: " Check the access key, and that its session token belongs to it.",
  InvalidSignatureException: " Check the secret access key, the region and this machine's clock.",
  AccessDeniedException: " Check that the model may be used with this account and region.",
};

/** The failure of an error in a vendor's stream: `{code, message}`, `{error: {…}}` or plain text. */
export function toVendorFailure(error: Json | undefined): Failure {
  const { message, code, param } = readError(error ?? "");
  const text = `The model's server failed in the middle of its answer: ${message || code || "no reason given"}`;
  const status = typeof code === "string" && /^\d{3}$/.test(code) ? Number(code) : undefined;
  const retryAfterMs = readRetryInfo(error ?? "");
  return new Failure(streamCodeFor(code, status), text, { vendorCode: code, param, retryAfterMs });
}

/** The failure without secrets. If it had any, its cause, which repeats them, is dropped. */
export function redactFailure(thrown: unknown, redact: Redact = (text) => text): Failure {
  const failure = toFailure(thrown);
  const message = redact(failure.message);
  if (message === failure.message) return failure;
  const { code, param, vendorCode, retryAfterMs, retryable } = failure;
  return new Failure(code, message, { param, vendorCode, retryAfterMs, retryable });
}

/** Groq's code for a call that its model wrote and that it cannot parse. The same request may well succeed. */
const SLIP = "tool_use_failed";

/** True if the model made the mistake, and the request was not wrong. */
export function isSlip({ vendorCode }: Failure): boolean {
  return vendorCode === SLIP;
}

/** A used-up quota or balance: a wait of seconds does not help, and the request is not at fault. */
const QUOTA_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
]);

/** True if the vendor refuses the account (its key, its balance) and not the request. */
export function isAccountFailure({ code, vendorCode }: Failure): boolean {
  return code === "provider_unauthorized" || QUOTA_CODES.has(vendorCode ?? "");
}

const OVERLOAD_CODES: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "overloaded_error",
  "server_overloaded",
  "engine_overloaded",
]);
const CONTEXT_CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "model_context_window_exceeded",
]);

const CONTEXT_WORDS =
  /prompt is too long|input is too long|context limit|maximum context length|context window|input token count.* exceeds the maximum number of tokens|exceeds the (available )?context (length|size)|too many tokens: (?!max tokens)/i;

const OVERLOAD_STATUSES: ReadonlySet<number> = new Set([408, 409, 429, 503, 529]);

function codeFor(status: number, vendorCode: string | undefined, message: string): FailureCode {
  if (vendorCode && CONTEXT_CODES.has(vendorCode)) return "context_exceeded";
  if (CONTEXT_WORDS.test(message) && status === 400) return "context_exceeded";
  // Routers refuse flagged content with the status of a key without permission. The key itself is valid.
  if (status === 403 && isFlagged(vendorCode, message)) return "provider_rejected";
  if (isUnauthorized(status, message)) return "provider_unauthorized";
  if (vendorCode === SLIP) return "provider_failed";
  // A used-up quota is a 429 as well, and no wait helps. Cohere reports it in words alone.
  const isSpent = vendorCode !== undefined && QUOTA_CODES.has(vendorCode);
  if (isSpent || /API calls \/ month/i.test(message)) return "provider_rejected";
  if (OVERLOAD_STATUSES.has(status)) return "provider_overloaded";
  // 424 means that the model that the service of AWS calls failed.
  if (status >= 500 || status === 424) return "provider_failed";
  return "provider_rejected";
}

function isUnauthorized(status: number, message: string): boolean {
  if (status >= 401 && status <= 403) return true;
  // Google reports a wrong key as an invalid argument, and Anthropic a used-up balance as an invalid
  // request.
  return /API key not valid|API key expired|credit balance is too low/i.test(message);
}

function isFlagged(vendorCode: string | undefined, message: string): boolean {
  if (vendorCode === "content_policy_violation") return true;
  return /\bflagged\b|requires moderation|prompt injection|content (policy|filter)/i.test(message);
}

function streamCodeFor(vendorCode: string | undefined, status: number | undefined): FailureCode {
  if (vendorCode && OVERLOAD_CODES.has(vendorCode)) return "provider_overloaded";
  if (vendorCode && CONTEXT_CODES.has(vendorCode)) return "context_exceeded";
  if (vendorCode && QUOTA_CODES.has(vendorCode)) return "provider_rejected";
  if (vendorCode && MISSING_CODES.has(vendorCode)) return "model_not_found";
  if (vendorCode && REFUSED_CODES.has(vendorCode)) return "provider_rejected";
  return status === undefined ? "provider_failed" : codeFor(status, vendorCode, "");
}

/**
 * Codes for parts of a request that the vendor does not accept, sent after the answer has begun: the
 * request is at fault.
 */
const REFUSED_CODES: ReadonlySet<string> = new Set([
  ...["invalid_request_error", "invalid_prompt", "content_filter", "content_policy_violation"],
  ...["bio_policy", "misalignment_policy_violation", "data_residency_mismatch"],
  ...["invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url"],
  ...["image_too_large", "image_too_small", "image_parse_error", "invalid_image_mode"],
  ...["image_content_policy_violation", "image_file_too_large", "unsupported_image_media_type"],
  ...["empty_image_file", "failed_to_download_image", "image_file_not_found"],
]);

function adviceFor(status: number, retryAfterMs: number | undefined): string {
  if (status === 401 || status === 403) return " Check the key and what it may use.";
  if (status === 402) return " Check the account's balance.";
  if (status === 404) return " Check the model's name and the URL.";
  if (status === 429 && retryAfterMs !== undefined) {
    return ` It asks to wait ${Math.ceil(retryAfterMs / 1000)} s.`;
  }
  return "";
}

/** The advice for a redirect. A key is only sent to the address that it was given for. */
function redirectAdvice(status: number, location: string | undefined): string {
  return status >= 300 && status < 400 && location ? ` Use ${clip(location, 200)} as the URL.` : "";
}

interface VendorError {
  readonly message: string;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

/** Reads every known form: nested and flat, `detail`, an array around it, a code that is a number. */
function readError(body: Json): VendorError {
  if (Array.isArray(body)) return readError((body[0] as Json | undefined) ?? "");
  if (!isJsonObject(body)) return { message: toMessage(body), code: undefined, param: undefined };
  const inner = body["error"] ?? body["detail"];
  if (isJsonObject(inner)) return readError(inner);
  if (typeof inner === "string") return { ...readFlat(body), message: toMessage(inner) };
  return readFlat(body);
}

function readFlat(error: JsonObject): VendorError {
  const code = error["code"] ?? error["type"];
  const param = error["param"];
  return {
    // Services of AWS use both spellings.
    message: toMessage(error["message"] ?? error["Message"] ?? ""),
    code: typeof code === "string" || typeof code === "number" ? String(code) : undefined,
    param: typeof param === "string" ? param : undefined,
  };
}

/** The wait that Google puts into the body: `{"@type": "….RetryInfo", "retryDelay": "34.4s"}`. */
function readRetryInfo(body: Json): number | undefined {
  const [first] = Array.isArray(body) ? body : [body];
  if (!isJsonObject(first)) return undefined;
  if (isJsonObject(first["error"])) return readRetryInfo(first["error"]);
  const details = Array.isArray(first["details"]) ? first["details"].filter(isJsonObject) : [];
  const info = details.find((detail) => String(detail["@type"]).endsWith("google.rpc.RetryInfo"));
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(String(info?.["retryDelay"])) ?? [];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}

function toMessage(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // A proxy's page, not a vendor's message.
  const plain = /^\s*</.test(text)
    ? text.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, " ")
    : text;
  const line = clip(plain, MAX_MESSAGE_CHARS);
  return line === "" || /[.!?…]$/.test(line) ? line : `${line}.`;
}
