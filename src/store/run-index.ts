/**
 * Queries over all runs: lists, costs, tools, open questions, the spans of a tree. Answered from the rows that are
 * written with the log (`run-notes.ts`), never from the logs themselves. Only reads; one suite tests all
 * implementations (`test/store/run-index-contract.ts`).
 */

import type { JsonObject } from "../base/json.ts";
import type { Ending } from "../protocol/run-events.ts";

export interface RunIndex {
  /** Newest first. Without `parent`, runs that a person or a request started. */
  listRuns(query: RunListQuery): Promise<RunRow[]>;
  getRow(id: string): Promise<RunRow | undefined>;
  /** A run and all below it, by id: each after the run that started it. */
  listTree(id: string): Promise<RunRow[]>;
  /** Spans of a run and of all below it, by run and number. */
  listSpans(id: string): Promise<SpanRow[]>;
  /** Grows with every span and ending of a tree, so that a reader knows whether to read it again. */
  countTree(id: string): Promise<string>;
  /** Usage by day and by the requested key; the most expensive first. */
  sumUsage(query: UsageQuery): Promise<UsageSum[]>;
  /** Counts and times of tool calls, by tool. */
  sumTools(query: WindowQuery): Promise<ToolSum[]>;
  /** Calls that failed or were denied, the newest first. */
  listFailedCalls(query: FailedCallQuery): Promise<FailedCall[]>;
  /** Changes when a list of runs or of open questions may look different. Cheap: it is asked every second. */
  readNews(tenant: string | undefined): Promise<RunNews>;
  /** Open questions, oldest first. */
  listQuestions(query: QuestionQuery): Promise<QuestionRow[]>;
  /** One question by its name in its run, also one that was decided. */
  getQuestion(runId: string, question: string): Promise<QuestionRow | undefined>;
}

export interface RunListQuery {
  /** The tenant whose runs are listed; undefined for all tenants. */
  readonly tenant: string | undefined;
  readonly limit: number;
  /** The last one of the page before. */
  readonly before?: { readonly created_at_ms: number; readonly id: string } | undefined;
  readonly status?: "running" | "ended" | undefined;
  readonly ending?: Ending | undefined;
  /** Only those that wait for an answer, their own or one of a run below them. */
  readonly waiting?: boolean | undefined;
  readonly model?: string | undefined;
  /** Label of the run, or the name of its agent. */
  readonly agent?: string | undefined;
  readonly key_id?: string | undefined;
  readonly session?: string | undefined;
  readonly folder?: string | undefined;
  readonly name?: string | undefined;
  readonly from_ms?: number | undefined;
  /** Exclusive. */
  readonly to_ms?: number | undefined;
  /** Words that the title or the id contains. */
  readonly search?: string | undefined;
  /** Only runs that this run started. */
  readonly parent?: string | undefined;
}

/** A run as a list shows it. Totals are of the run and all below it. */
export interface RunRow {
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  /** `DEFAULT_TENANT` for runs of the command line. */
  readonly tenant: string;
  readonly key_id: string | null;
  /** `agent`, `response`, `index`: the name of its body. */
  readonly name: string;
  readonly title: string;
  readonly created_at_ms: number;
  readonly status: "running" | "ended";
  readonly ending: Ending | null;
  readonly ended_at_ms: number | null;
  /** Why it ended so, cut short; empty if it completed or runs. */
  readonly message: string;
  readonly model: string | null;
  readonly label: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly folder: string | null;
  /** The run's own model calls and tool calls. */
  readonly turns: number;
  readonly calls: number;
  /** When its open model call was sent; null if none is open. */
  readonly turn_at_ms: number | null;
  /** Questions that wait for an answer: its own, and for a run without a parent also those of all below it. */
  readonly waiting: number;
}

export type SpanKind = "turn" | "compaction" | "call" | "child";
export type SpanStatus = "open" | "ok" | "failed" | "denied" | "cut";

export interface SpanRow {
  readonly run_id: string;
  readonly seq: number;
  readonly kind: SpanKind;
  readonly turn: number | null;
  /** The tool's name; the label of a child; null for a turn. */
  readonly name: string | null;
  /** For a call its id, for a child its run. */
  readonly key: string | null;
  /** For a child the key of the call that started it. */
  readonly under: string | null;
  readonly started_at_ms: number;
  readonly ended_at_ms: number | null;
  readonly status: SpanStatus;
  /** Who decided about a call. */
  readonly decided_by: string | null;
  readonly input_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly output_tokens: number | null;
  readonly usd: number | null;
}

export interface WindowQuery {
  /** The tenant whose runs are counted; undefined for all tenants. */
  readonly tenant: string | undefined;
  /** Days of UTC, `2026-11-18`; both included. */
  readonly from_day: string;
  readonly to_day: string;
}

export const USAGE_KEYS = ["model", "agent", "key", "tenant", "root"] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];

export interface UsageQuery extends WindowQuery {
  readonly by: UsageKey;
  /** True to report each day by itself. */
  readonly daily: boolean;
  readonly limit: number;
  /** Only of these trees. */
  readonly roots?: readonly string[] | undefined;
  /** Only of this run and those below it; replaces the window. */
  readonly below?: string | undefined;
}

export interface UsageSum {
  /** Null if all days are one. */
  readonly day: string | null;
  /** Null for usage without one: no key, no label. */
  readonly key: string | null;
  readonly calls: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  /** The cost of the calls whose price is known. */
  readonly known_usd: number;
  readonly unpriced_calls: number;
  readonly ms: number;
}

export interface ToolSum {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
  readonly denied: number;
  /** The time of the calls that ended. */
  readonly ms: number;
  readonly max_ms: number;
  readonly last_at_ms: number;
}

export interface FailedCallQuery extends WindowQuery {
  readonly limit: number;
  readonly status?: "failed" | "denied" | undefined;
  readonly tool?: string | undefined;
  /** The last one of the page before. */
  readonly before?: { readonly at_ms: number; readonly run_id: string; readonly seq: number };
}

export interface FailedCall {
  readonly run_id: string;
  readonly root_id: string;
  /** The number of the event that opened the call. */
  readonly seq: number;
  readonly tool: string;
  readonly status: "failed" | "denied";
  readonly decided_by: string | null;
  readonly at_ms: number;
  readonly ended_at_ms: number | null;
  /** The title of the run that made it. */
  readonly title: string;
  readonly label: string | null;
}

export interface RunNews {
  /** Changes when something has changed. */
  readonly version: string;
  /** Open questions. */
  readonly waiting: number;
}

export interface QuestionQuery {
  /** The tenant whose questions are listed; undefined for all tenants. */
  readonly tenant: string | undefined;
  readonly limit: number;
  /** Only of this run and those below it. */
  readonly run?: string | undefined;
  readonly after?: { readonly at_ms: number; readonly id: string } | undefined;
}

export interface QuestionRow {
  readonly run_id: string;
  readonly question: string;
  readonly tenant: string;
  readonly at_ms: number;
  /** When it is denied without an answer; null if it waits as long as its run does. */
  readonly until_ms: number | null;
  /** The `tool_question` event without its type. */
  readonly body: JsonObject;
  /** Null while it is open. */
  readonly closed_at_ms: number | null;
  /** The decision; null for an open question, or one whose run is gone. */
  readonly verdict: "allow" | "deny" | null;
  readonly reason: string | null;
}
