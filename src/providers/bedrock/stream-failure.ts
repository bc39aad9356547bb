/** Exceptions that Bedrock writes into a stream after it has begun. */

import { Failure, type FailureCode } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import { toVendorFailure } from "../provider-failure.ts";

/** The failure code of each exception in the middle of a stream. */
const CODES: Readonly<Record<string, FailureCode>> = {
  throttlingException: "provider_overloaded",
  serviceUnavailableException: "provider_overloaded",
  modelNotReadyException: "provider_overloaded",
  modelTimeoutException: "provider_timeout",
  internalServerException: "provider_failed",
  modelStreamErrorException: "provider_failed",
  validationException: "provider_rejected",
  accessDeniedException: "provider_unauthorized",
};

/** `name` is the name of the exception. An error that the API does not model has only a code. */
export function toStreamFailure(name: string, payload: unknown): Failure {
  const { message, Message, originalMessage, code } = isJsonObject(payload) ? payload : {};
  const vendorCode = typeof code === "string" ? code : name;
  const said = message ?? Message ?? originalMessage;
  const failure = toVendorFailure({ code: vendorCode, message: said });
  return new Failure(codeFor(name, failure), failure.message, { vendorCode });
}

/** Once an answer has begun, the only input error that is left is the length. */
function codeFor(name: string, failure: Failure): FailureCode {
  if (/too long|context (window|limit|length)/i.test(failure.message)) return "context_exceeded";
  return CODES[name] ?? failure.code;
}
