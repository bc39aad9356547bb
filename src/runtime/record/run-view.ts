/** A run as lists show it, made from its row and what its tree used. Pure. */

import type { RunRow, UsageSum } from "../../store/run-index.ts";
import type { UsageTotals } from "./usage-views.ts";
import type { RunView } from "./views.ts";

export const NO_TOTALS: UsageTotals = {
  calls: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  known_usd: 0,
};

export function toTotals(sum: UsageSum): UsageTotals {
  const { calls, input_tokens, cached_tokens, output_tokens, known_usd, unpriced_calls } = sum;
  const cost_usd = unpriced_calls > 0 ? null : known_usd;
  return { calls, input_tokens, cached_tokens, output_tokens, cost_usd, known_usd };
}

export function toRunView(row: RunRow, totals: UsageTotals): RunView {
  const { name: kind, calls: tool_calls, turn_at_ms: _, waiting, status, ...rest } = row;
  const isWaiting = status === "running" && waiting > 0;
  return {
    object: "run",
    ...rest,
    kind,
    tool_calls,
    questions: waiting,
    status: isWaiting ? "waiting" : status,
    totals,
  };
}
