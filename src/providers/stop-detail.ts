/** Details of an ending beyond its reason, in the words that most vendors use. */

import type { StopDetail } from "../protocol/model-events.ts";

const REASONS: Readonly<Record<string, StopDetail["reason"] | undefined>> = {
  stop_sequence: "stop_sequence",
  STOP_SEQUENCE: "stop_sequence",
  model_context_window_exceeded: "context_window",
};

/** Undefined for a reason without details. `sequence` is the stop text that was reached, if it is known. */
export function toStopDetail(
  stopReason: string | undefined,
  sequence?: string | null | undefined,
): StopDetail | undefined {
  const reason = REASONS[stopReason ?? ""];
  if (reason === undefined) return undefined;
  return reason === "stop_sequence" && sequence ? { reason, sequence } : { reason };
}
