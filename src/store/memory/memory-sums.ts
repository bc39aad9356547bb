/** Sums of usage and of tool calls, row by row, and failed calls. Pure. */

import type {
  FailedCall,
  FailedCallQuery,
  SpanRow,
  ToolSum,
  UsageKey,
  UsageSum,
} from "../run-index.ts";
import { type NotedUsage, toDay } from "../run-notes.ts";

export type Changed<Row> = { -readonly [Field in keyof Row]: Row[Field] };

export interface UsageRow extends NotedUsage {
  readonly run_id: string;
  readonly seq: number;
  readonly root_id: string;
  readonly tenant: string;
  readonly key_id: string | null;
  readonly model: string | null;
  readonly label: string | null;
  readonly kind: "turn" | "compaction" | "cut";
  readonly turn: number | null;
  readonly at_ms: number;
  readonly ms: number;
}

export const USAGE_KEY_OF: Readonly<Record<UsageKey, (row: UsageRow) => string | null>> = {
  model: ({ model }) => model,
  agent: ({ label }) => label,
  key: ({ key_id }) => key_id,
  tenant: ({ tenant }) => tenant,
  root: ({ root_id }) => root_id,
};

export const NOTHING = {
  calls: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  known_usd: 0,
  unpriced_calls: 0,
  ms: 0,
};

export function addTo(sum: Changed<UsageSum>, row: UsageRow): void {
  sum.calls++;
  sum.input_tokens += row.input_tokens;
  sum.cached_tokens += row.cached_tokens;
  sum.output_tokens += row.output_tokens;
  sum.reasoning_tokens += row.reasoning_tokens;
  sum.known_usd += row.usd ?? 0;
  if (row.usd === null) sum.unpriced_calls++;
  sum.ms += row.ms;
}

export function compareSums(a: UsageSum, b: UsageSum): number {
  const tokens = (sum: UsageSum): number => sum.input_tokens + sum.output_tokens;
  return (
    compareTexts(a.day, b.day) ||
    b.known_usd - a.known_usd ||
    tokens(b) - tokens(a) ||
    compareTexts(a.key, b.key)
  );
}

/** Null comes first. */
function compareTexts(a: string | null, b: string | null): number {
  if (a === b) return 0;
  return a === null || (b !== null && a < b) ? -1 : 1;
}

export function addCall(sums: Map<string, Changed<ToolSum>>, span: SpanRow): void {
  const tool = span.name ?? "";
  const sum = sums.get(tool) ?? {
    tool,
    calls: 0,
    failed: 0,
    denied: 0,
    ms: 0,
    max_ms: 0,
    last_at_ms: 0,
  };
  sums.set(tool, sum);
  const ms = (span.ended_at_ms ?? span.started_at_ms) - span.started_at_ms;
  sum.calls++;
  if (span.status === "failed") sum.failed++;
  if (span.status === "denied") sum.denied++;
  sum.ms += ms;
  sum.max_ms = Math.max(sum.max_ms, ms);
  sum.last_at_ms = Math.max(sum.last_at_ms, span.started_at_ms);
}

/** Undefined for a call that was not asked for. */
export function toFailedCall(
  span: SpanRow,
  { title, label, root_id }: Pick<FailedCall, "title" | "label" | "root_id">,
  query: FailedCallQuery,
): FailedCall | undefined {
  const { run_id, seq, name, status, decided_by, started_at_ms, ended_at_ms, kind } = span;
  const day = toDay(started_at_ms);
  if (kind !== "call" || day < query.from_day || day > query.to_day) return undefined;
  if (status !== "failed" && status !== "denied") return undefined;
  const tool = name ?? "";
  const isAsked =
    (query.status ?? status) === status && (query.tool === undefined || query.tool === tool);
  const place = { run_id, root_id, seq, at_ms: started_at_ms };
  if (!isAsked || (query.before && !isLater(query.before, place))) return undefined;
  return { ...place, tool, status, decided_by, ended_at_ms, title, label };
}

type CallPlace = Pick<FailedCall, "at_ms" | "run_id" | "seq">;

export function isLater(a: CallPlace, b: CallPlace): boolean {
  if (a.at_ms !== b.at_ms) return a.at_ms > b.at_ms;
  return a.run_id === b.run_id ? a.seq > b.seq : a.run_id > b.run_id;
}
