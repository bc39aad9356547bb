/** What models and tools used over time, from the rows that the store writes with each of their calls. */

import type { UsageKey } from "../../store/run-index.ts";
import type { Viewer } from "./found-runs.ts";
import { parseWindow, type Query } from "./run-query.ts";
import type { ReadParts } from "./run-reads.ts";
import { toTotals } from "./run-view.ts";
import type { ToolsView, UsageView } from "./views.ts";

export interface RunSums {
  usage(viewer: Viewer, query: Query, by: UsageKey, daily: boolean): Promise<UsageView>;
  tools(viewer: Viewer, query: Query): Promise<ToolsView>;
}

/** About a megabyte. */
const MAX_SUMS = 5000;

export function createRunSums({ index, clock }: Pick<ReadParts, "index" | "clock">): RunSums {
  return {
    async usage({ tenant }, query, by, daily) {
      const window = parseWindow(query, clock.now());
      const sums = await index.sumUsage({ ...window, tenant, by, daily, limit: MAX_SUMS });
      const data = sums.map((sum) => ({
        ...toTotals(sum),
        ...{ day: sum.day, key: sum.key, reasoning_tokens: sum.reasoning_tokens },
        ...{ unpriced_calls: sum.unpriced_calls, seconds: sum.ms / 1000 },
      }));
      return { object: "usage", by, from: window.from_day, to: window.to_day, data };
    },
    async tools({ tenant }, query) {
      const window = parseWindow(query, clock.now());
      const sums = await index.sumTools({ ...window, tenant });
      const data = sums.map(({ ms, max_ms, ...sum }) => ({
        ...sum,
        ...{ seconds: ms / 1000, max_seconds: max_ms / 1000 },
      }));
      return { object: "tools", from: window.from_day, to: window.to_day, data };
    },
  };
}
