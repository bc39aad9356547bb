/** Finds the runs that a viewer may see, and shows them with what their trees used. */

import type { Engine } from "../../engine/engine.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { toUnknownRun } from "../../store/refusal.ts";
import type { RunIndex, RunRow } from "../../store/run-index.ts";
import { toEventViews } from "./event-view.ts";
import { NO_TOTALS, toRunView, toTotals } from "./run-view.ts";
import type { UsageTotals } from "./usage-views.ts";
import type { RunDetail, RunView } from "./views.ts";

/** Whose runs the caller sees: those of one tenant; undefined for those of all. */
export interface Viewer {
  readonly tenant: string | undefined;
}

export interface FoundRuns {
  /** Rejects with `not_found` for a run that does not exist, and for a run of another tenant. */
  find(viewer: Viewer, id: string): Promise<RunRow>;
  views(rows: readonly RunRow[]): Promise<RunView[]>;
  view(row: RunRow): Promise<RunView>;
  detail(row: RunRow): Promise<RunDetail>;
  event(id: string, seq: number): Promise<LoggedEvent | undefined>;
}

/** More roots than a page has. */
const MAX_ROOTS = 1000;

export function createFoundRuns(index: RunIndex, engine: Engine): FoundRuns {
  async function totalsOf(rows: readonly RunRow[]): Promise<ReadonlyMap<string, UsageTotals>> {
    const roots = [...new Set(rows.map(({ root_id }) => root_id))];
    if (roots.length === 0) return new Map();
    const all = { tenant: undefined, from_day: "", to_day: "" };
    const by = { by: "root", daily: false, limit: MAX_ROOTS, roots } as const;
    const sums = await index.sumUsage({ ...all, ...by });
    return new Map(sums.map((sum) => [sum.key ?? "", toTotals(sum)]));
  }
  const found: FoundRuns = {
    async find({ tenant }, id) {
      const row = await index.getRow(id);
      if (row && (tenant === undefined || row.tenant === tenant)) return row;
      throw toUnknownRun(id);
    },
    async views(rows) {
      const totals = await totalsOf(rows);
      return rows.map((row) => toRunView(row, totals.get(row.root_id) ?? NO_TOTALS));
    },
    async view(row) {
      // The usage of its own tree, which is a part of the whole one for a run below another.
      const own = { tenant: undefined, from_day: "", to_day: "", below: row.id };
      const [sum] = await index.sumUsage({ ...own, by: "root", daily: false, limit: 1 });
      return toRunView(row, sum ? toTotals(sum) : NO_TOTALS);
    },
    async detail(row) {
      const { id } = row;
      const status = await engine.status(id);
      if (!status) throw toUnknownRun(id);
      const isRunning = status.status === "running";
      const start = await found.event(id, 0);
      const end = isRunning ? undefined : await found.event(id, status.next_seq - 1);
      return {
        ...(await found.view(row)),
        path: status.path,
        events: status.next_seq,
        attempts: status.epoch,
        is_held: isRunning && (await engine.isHeld(status)),
        start: start ? (toEventViews([start])[0] ?? null) : null,
        end: end ? (toEventViews([end])[0] ?? null) : null,
      };
    },
    event: async (id, seq) => (await engine.record.readEvents(id, seq - 1, 1)).at(0),
  };
  return found;
}
