/** Writes the last event of a run's log: how it ended, its output and its cost. */

import type { Json } from "../base/json.ts";
import type { AnsweredBy, StopDetail } from "../protocol/model-events.ts";
import type { Ending, RunEnd, RunError } from "../protocol/run-events.ts";
import type { Usage } from "../protocol/usage.ts";
import type { Amount } from "./limits.ts";

/** The state of a run at its end. */
export interface Reached {
  readonly text: string;
  readonly turns: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly by: AnsweredBy | undefined;
  readonly stop: StopDetail | undefined;
}

export interface End {
  readonly ending: Ending;
  readonly value?: Json | undefined;
  readonly message?: string;
  readonly error?: RunError;
  /** True if the client has to answer its calls. */
  readonly waits?: boolean | undefined;
}

export function toRunEnd(
  { ending, value, message, error, waits }: End,
  reached: Reached,
  { spent, nowMs }: { readonly spent: Amount; readonly nowMs: number },
): RunEnd {
  return {
    type: "run_end",
    ending,
    message: message ?? error?.message ?? "",
    output_text: reached.text,
    ...(waits ? { waits: true } : {}),
    output_json: value,
    error: error ?? null,
    turns: reached.turns,
    tool_calls: reached.toolCalls,
    usage: reached.usage,
    cost_usd: reached.costUsd,
    spent: { ...spent },
    ...(reached.by ? { by: reached.by } : {}),
    ...(reached.stop ? { stop: reached.stop } : {}),
    at_ms: nowMs,
  };
}
