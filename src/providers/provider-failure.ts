/**
 * What went wrong at a vendor, as a `Failure` that tells the person what to do.
 *
 * The only place that reads vendors' error bodies. A body is clipped here, because some servers
 * answer with a page of HTML, and cleaned of the key, which some repeat: a failure is also stored.
 */

import { Failure, type FailureCode, toFailure } from "../base/failure.ts";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../base/json.ts";
import type { Redact } from "../base/redact.ts";
import { clip } from "../base/text.ts";
import { readRetryAfter } from "./rate-limit-headers.ts";

const MAX_MESSAGE_CHARS = 400;

/** An HTTP answer that is no success. `who` names the vendor. */
export function toHttpFailure(
  who: string,
  answer: { status: number; headers: Readonly<Record<string, string | undefined>>; body: string },
): Failure {
  const { status, headers, body } = answer;
  const { message, code, param } = readError(tryParseJson(body) ?? body);
  const vendorCode = code ?? undefined;
  const retryAfterMs = readRetryAfter(headers);
  const advice = adviceFor(status, retryAfterMs) || redirectAdvice(status, headers["location"]);
  const text = `${who} answered ${status}: ${message || "no message"}${advice}`;
  return new Failure(codeFor(status, vendorCode, message), text, {
    vendorCode,
    param,
    retryAfterMs,
  });
}

/** An error a vendor put into its stream: `{code, message}`, `{error: {…}}` or a bare text. */
export function toVendorFailure(error: Json | undefined): Failure {
  const { message, code, param } = readError(error ?? "");
  const text = `The model's server failed in the middle of its answer: ${message || code || "no reason given"}`;
  const status = typeof code === "string" && /^\d{3}$/.test(code) ? Number(code) : undefined;
  return new Failure(streamCodeFor(code, status), text, { vendorCode: code, param });
}

/** The failure without secrets; one that held any loses its cause, which says the same. */
export function redactFailure(thrown: unknown, redact: Redact = (text) => text): Failure {
  const failure = toFailure(thrown);
  const message = redact(failure.message);
  if (message === failure.message) return failure;
  const { code, param, vendorCode, retryAfterMs } = failure;
  return new Failure(code, message, { param, vendorCode, retryAfterMs });
}

const OVERLOAD_CODES: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "overloaded_error",
  "server_overloaded",
  "engine_overloaded",
]);
const CONTEXT_CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "model_context_window_exceeded",
]);

function codeFor(status: number, vendorCode: string | undefined, message: string): FailureCode {
  if (vendorCode && CONTEXT_CODES.has(vendorCode)) return "context_exceeded";
  if (/maximum context length|context window/i.test(message) && status === 400)
    return "context_exceeded";
  if (status === 401 || status === 403) return "provider_unauthorized";
  // A spent quota comes as 429 as well, and no wait mends it.
  if (vendorCode === "insufficient_quota") return "provider_rejected";
  if (status === 408 || status === 409 || status === 429 || status === 503 || status === 529) {
    return "provider_overloaded";
  }
  if (status >= 500) return "provider_failed";
  return "provider_rejected";
}

function streamCodeFor(vendorCode: string | undefined, status: number | undefined): FailureCode {
  if (vendorCode && OVERLOAD_CODES.has(vendorCode)) return "provider_overloaded";
  if (vendorCode && CONTEXT_CODES.has(vendorCode)) return "context_exceeded";
  if (vendorCode === "insufficient_quota") return "provider_rejected";
  return status === undefined ? "provider_failed" : codeFor(status, vendorCode, "");
}

function adviceFor(status: number, retryAfterMs: number | undefined): string {
  if (status === 401 || status === 403) return " Check the key and what it may use.";
  if (status === 404) return " Check the model's name and the URL.";
  if (status === 429 && retryAfterMs !== undefined) {
    return ` It asks to wait ${Math.ceil(retryAfterMs / 1000)} s.`;
  }
  return "";
}

/** A key is never carried to another address than the one it was given for. */
function redirectAdvice(status: number, location: string | undefined): string {
  return status >= 300 && status < 400 && location ? ` Use ${clip(location, 200)} as the URL.` : "";
}

interface VendorError {
  readonly message: string;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

/** Reads every shape seen: nested and flat, `detail`, an array around it, a code that is a number. */
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
    message: toMessage(error["message"] ?? ""),
    code: typeof code === "string" || typeof code === "number" ? String(code) : undefined,
    param: typeof param === "string" ? param : undefined,
  };
}

function toMessage(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // A proxy's page, not a vendor's word.
  const plain = /^\s*</.test(text)
    ? text.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, " ")
    : text;
  const line = clip(plain, MAX_MESSAGE_CHARS);
  return line === "" || /[.!?…]$/.test(line) ? line : `${line}.`;
}
