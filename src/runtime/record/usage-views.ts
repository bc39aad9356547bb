/** What the record says about usage over time: sums of tokens and money, and of tool calls. */

/** The usage of a run and everything below it, from the rows of usage alone. */
export interface UsageTotals {
  /** Model calls. */
  readonly calls: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** Null if the price of some call is not known; `known_usd` is what is known. */
  readonly cost_usd: number | null;
  readonly known_usd: number;
}

export interface UsageView {
  readonly object: "usage";
  readonly by: string;
  readonly from: string;
  readonly to: string;
  readonly data: readonly UsageRowView[];
}

export interface UsageRowView extends UsageTotals {
  /** Null if days are not separated. */
  readonly day: string | null;
  /** Null for rows without one. */
  readonly key: string | null;
  readonly reasoning_tokens: number;
  readonly unpriced_calls: number;
  readonly seconds: number;
}

export interface ToolsView {
  readonly object: "tools";
  readonly from: string;
  readonly to: string;
  readonly data: readonly ToolView[];
}

export interface ToolView {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
  readonly denied: number;
  readonly seconds: number;
  readonly max_seconds: number;
  readonly last_at_ms: number;
}

/** A tool call that failed or was denied. */
export interface FailedCallView {
  readonly object: "call";
  readonly run_id: string;
  readonly root_id: string;
  /** The event that opened it. */
  readonly seq: number;
  readonly tool: string;
  readonly status: "failed" | "denied";
  /** Who decided about it, and what that means. */
  readonly decided_by: string | null;
  readonly about: string | null;
  /** The rule that denied it. */
  readonly rule: string | null;
  /** Why it was denied, or the beginning of what the model was told about its failure. */
  readonly reason: string | null;
  readonly at_ms: number;
  readonly ended_at_ms: number | null;
  /** The title of the run that made it. */
  readonly title: string;
  readonly label: string | null;
}
