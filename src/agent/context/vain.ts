import type { FailureCode } from "../../base/failure.ts";

/** True if a conversation could not be summarised for reasons of the model or the budget. */
export function isVain(code: FailureCode): boolean {
  return VAIN.has(code);
}

const VAIN: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "provider_rejected",
  "model_not_found",
  "provider_overloaded",
  "provider_failed",
  "provider_timeout",
  "provider_unreachable",
  "provider_broke_protocol",
  "empty_answer",
  "broken_answer",
  "context_exceeded",
  "budget_exceeded",
]);
