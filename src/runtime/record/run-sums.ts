/** The usage of models and tools over time, from the rows that the store writes with each of their calls. */

import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import {
  DECIDERS,
  type DecidedBy,
  type LoggedEvent,
  type ToolDecision,
} from "../../protocol/run-events.ts";
import type { FailedCall, UsageKey, UsageSum } from "../../store/run-index.ts";
import { toDay } from "../../store/run-notes.ts";
import type { Viewer } from "./found-runs.ts";
import {
  parseCursor,
  parseLimit,
  parseWindow,
  type Query,
  toCursor,
  toInvalid,
  toPage,
} from "./run-query.ts";
import type { ReadParts } from "./run-reads.ts";
import { toTotals } from "./run-view.ts";
import type { FailedCallView, ToolsView, UsageRowView, UsageView } from "./usage-views.ts";
import type { RecordPage } from "./views.ts";

export interface RunSums {
  usage(viewer: Viewer, query: Query, by: UsageKey, daily: boolean): Promise<UsageView>;
  /** The usage of one run and all below it. */
  usageOf(viewer: Viewer, id: string, by: UsageKey): Promise<UsageView>;
  tools(viewer: Viewer, query: Query): Promise<ToolsView>;
  /** Calls that failed or were denied, the newest first. */
  failures(viewer: Viewer, query: Query): Promise<RecordPage<FailedCallView>>;
}

/** About a megabyte. */
const MAX_SUMS = 5000;

export function createRunSums(parts: ReadParts): RunSums {
  const { index, clock, found } = parts;
  return {
    async usage({ tenant }, query, by, daily) {
      const window = parseWindow(query, clock.now());
      const sums = await index.sumUsage({ ...window, tenant, by, daily, limit: MAX_SUMS });
      const data = sums.map(toUsageRow);
      return { object: "usage", by, from: window.from_day, to: window.to_day, data };
    },
    async usageOf(viewer, id, by) {
      const { created_at_ms, ended_at_ms } = await found.find(viewer, id);
      const days = { from_day: toDay(created_at_ms), to_day: toDay(ended_at_ms ?? clock.now()) };
      const asked = { ...days, tenant: undefined, by, daily: false, below: id };
      const sums = await index.sumUsage({ ...asked, limit: MAX_SUMS });
      const data = sums.map(toUsageRow);
      return { object: "usage", by, from: days.from_day, to: days.to_day, data };
    },
    async tools({ tenant }, query) {
      const window = parseWindow(query, clock.now());
      const sums = await index.sumTools({ ...window, tenant });
      const data = sums.map(({ ms, max_ms, ...sum }) => ({
        ...sum,
        seconds: ms / 1000,
        max_seconds: max_ms / 1000,
      }));
      return { object: "tools", from: window.from_day, to: window.to_day, data };
    },
    async failures({ tenant }, query) {
      const limit = parseLimit(query);
      const rows = await index.listFailedCalls({
        ...parseWindow(query, clock.now()),
        tenant,
        limit: limit + 1,
        status: parseFailed(query.get("status")),
        tool: query.get("tool") || undefined,
        ...parseCallCursor(query.get("after")),
      });
      const data: FailedCallView[] = [];
      for (const row of rows.slice(0, limit)) data.push(await toFailedCallView(parts, row));
      return toPage(data, rows.length > limit, ({ at_ms, run_id, seq }) =>
        toCursor(at_ms, `${run_id}:${seq}`),
      );
    },
  };
}

function toUsageRow(sum: UsageSum): UsageRowView {
  return {
    ...toTotals(sum),
    day: sum.day,
    key: sum.key,
    reasoning_tokens: sum.reasoning_tokens,
    unpriced_calls: sum.unpriced_calls,
    seconds: sum.ms / 1000,
  };
}

function parseFailed(status: string | null): FailedCall["status"] | undefined {
  if (status === null || status === "") return undefined;
  if (status === "failed" || status === "denied") return status;
  throw toInvalid("status", "`status` of a call is `failed` or `denied`.");
}

function parseCallCursor(text: string | null): {
  readonly before?: { readonly at_ms: number; readonly run_id: string; readonly seq: number };
} {
  const place = parseCursor(text);
  const [, run_id, seq] = /^(.+):(\d+)$/.exec(place?.id ?? "") ?? [];
  if (!place || run_id === undefined) return {};
  return { before: { at_ms: place.at_ms, run_id, seq: Number(seq) } };
}

/**
 * How many events after the start of a call are searched for its decision: calls of one turn may be decided at the
 * same time.
 */
const DECISION_EVENTS = 64;

const MAX_REASON_CHARS = 300;

/** The text that the model got in place of a result, if it is among these events. */
function findFailure(events: readonly LoggedEvent[], callId: string): string | undefined {
  for (const { event } of events) {
    if (event.type !== "tool_end" || event.call_id !== callId) continue;
    const output = event.item.type === "function_call_output" ? event.item.output : undefined;
    if (typeof output !== "string") return undefined;
    // The tools that delegate answer with a document.
    const document = tryParseJson(output);
    const error = isJsonObject(document) ? document["error"] : undefined;
    return clip(typeof error === "string" ? error : output, MAX_REASON_CHARS);
  }
  return undefined;
}

/** The rule and the reason are read from the log: a page of them is a few short reads. */
async function toFailedCallView(
  { engine }: Pick<ReadParts, "engine">,
  call: FailedCall,
): Promise<FailedCallView> {
  const { run_id, seq, decided_by, status } = call;
  const about = DECIDERS[decided_by as DecidedBy] ?? null;
  const events = await engine.record.readEvents(run_id, seq - 1, DECISION_EVENTS);
  const started = events[0]?.event;
  if (status !== "denied") {
    const told = started?.type === "tool_start" ? findFailure(events, started.call_id) : undefined;
    return { object: "call", ...call, about, rule: null, reason: told ?? null };
  }
  const decision = events.find(
    ({ event }): boolean =>
      event.type === "tool_decision" &&
      started?.type === "tool_start" &&
      event.call_id === started.call_id &&
      event.verdict === "deny",
  )?.event as ToolDecision | undefined;
  const { rule = null, reason = null } = decision ?? {};
  return { object: "call", ...call, about, rule, reason };
}
