import { plural, withThousands } from "../../base/text.ts";
import { toDurationMs } from "../../delegation/ledger/costs.ts";
import type { RunFigures } from "../../delegation/ledger/run-figures.ts";
import { toPartialMoney, toSeconds } from "./amounts.ts";

/**
 * `2 turns · 1 tool call · 1,234 tokens · 3.2 s · $0.0012`: the totals of a run, the same in all commands.
 */
export function toSummary(figures: RunFigures): string {
  const { turns, tool_calls, usage, known_usd, unknown_calls, started_at_ms } = figures;
  return [
    plural(turns, "turn"),
    ...(tool_calls > 0 ? [plural(tool_calls, "tool call")] : []),
    `${withThousands(usage.total_tokens)} tokens`,
    ...(started_at_ms === null ? [] : [toSeconds(toDurationMs(figures))]),
    toPartialMoney(known_usd, unknown_calls, usage.total_tokens),
  ].join(" · ");
}
