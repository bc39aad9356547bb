/** Which failures another deployment may not have: all but the client's own mistakes. Pure. */

import type { Failure, FailureCode } from "../../base/failure.ts";
import { isAccountFailure, isSlip } from "../provider-failure.ts";
import type { Verdict } from "./health.ts";

/**
 * Of the deployment and not of the request. Whoever uses this has given on no output: after the first
 * output nothing is asked again.
 */
const MOVING: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "provider_unreachable",
  "host_unknown",
  "provider_timeout",
  "provider_overloaded",
  "provider_failed",
  "provider_broke_protocol",
  "empty_answer",
  "model_not_found",
  "key_missing",
]);

export function isDeploymentFailure(failure: Failure): boolean {
  return MOVING.has(failure.code) || isAccountFailure(failure);
}

/** Whoever refuses a request, or says too much, is there and works. */
const ANSWERED: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "provider_rejected",
  "context_exceeded",
  "answer_too_large",
]);

/** What a failed call says of its deployment. */
export function toVerdict(failure: Failure): Verdict {
  // The model wrote a call that nobody can read: a client can ask for such tools as often as it likes.
  if (isSlip(failure)) return "well";
  // One client's odd prompt must not take a deployment from all others.
  if (failure.code === "empty_answer") return "unknown";
  if (isDeploymentFailure(failure)) return failure;
  return ANSWERED.has(failure.code) ? "well" : "unknown";
}

interface Windowed {
  /** `vendor/model`. */
  readonly model: string;
  /** Undefined where it is not known. */
  readonly contextTokens: number | undefined;
}

/**
 * Whether a conversation that is too long for one may fit another: its window is larger, or nothing is
 * known of the two and it is another model.
 */
export function mayBeLarger(other: Windowed, tooSmall: Windowed): boolean {
  if (other.contextTokens !== undefined && tooSmall.contextTokens !== undefined) {
    return other.contextTokens > tooSmall.contextTokens;
  }
  return other.model !== tooSmall.model;
}
