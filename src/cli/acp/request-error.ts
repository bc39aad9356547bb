/** What went wrong here, as the protocol says it: a person reads the message. */

import { RequestError } from "@agentclientprotocol/sdk";
import { Failure } from "../../base/failure.ts";

export function toRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  if (thrown instanceof Failure) {
    if (thrown.code === "key_missing") return RequestError.authRequired({}, thrown.message);
    if (thrown.code === "not_found") return RequestError.resourceNotFound(thrown.message);
    if (thrown.code === "invalid_request") return RequestError.invalidParams({}, thrown.message);
    return RequestError.internalError({ code: thrown.code }, thrown.message);
  }
  return RequestError.internalError({}, thrown instanceof Error ? thrown.message : String(thrown));
}
