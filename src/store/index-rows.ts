/**
 * Rows of `run_facts`, `spans`, `usage` and `questions` as both databases return them, converted to the index's types.
 */

import type { JsonObject } from "../base/json.ts";
import type {
  FailedCall,
  QuestionRow,
  RunRow,
  SpanRow,
  ToolSum,
  UsageKey,
  UsageSum,
} from "./run-index.ts";
import { fromColumn, fromNullable } from "./text-column.ts";

type DatabaseRow = Readonly<Record<string, unknown>>;

/** The columns that usage is grouped by. */
export const USAGE_COLUMNS: Readonly<Record<UsageKey, string>> = {
  model: "model",
  agent: "label",
  key: "key_id",
  tenant: "tenant",
  root: "root_id",
};

/** A search is for all of a few words, in any order and case. */
export function toSearchWords(search: string | undefined): string[] {
  return (search ?? "").toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

const MAX_WORDS = 8;

export function toRunRow(row: DatabaseRow): RunRow {
  return {
    id: fromColumn(row["run_id"]),
    root_id: fromColumn(row["root_id"]),
    parent_id: fromNullable(row["parent_id"]),
    tenant: fromColumn(row["tenant"]),
    key_id: fromNullable(row["key_id"]),
    name: fromColumn(row["name"]),
    title: fromColumn(row["title"]),
    created_at_ms: Number(row["created_at_ms"]),
    status: row["status"] as RunRow["status"],
    ending: (row["ending"] ?? null) as RunRow["ending"],
    ended_at_ms: toNumber(row["ended_at_ms"]),
    message: fromColumn(row["message"]),
    model: fromNullable(row["model"]),
    label: fromNullable(row["label"]),
    agent: fromNullable(row["agent"]),
    session: fromNullable(row["session"]),
    folder: fromNullable(row["folder"]),
    turns: Number(row["turns"]),
    calls: Number(row["calls"]),
    turn_at_ms: toNumber(row["turn_at_ms"]),
    waiting: Number(row["waiting"]),
  };
}

export function toSpanRow(row: DatabaseRow): SpanRow {
  return {
    run_id: fromColumn(row["run_id"]),
    seq: Number(row["seq"]),
    kind: row["kind"] as SpanRow["kind"],
    turn: toNumber(row["turn"]),
    name: fromNullable(row["name"]),
    key: fromNullable(row["key"]),
    under: fromNullable(row["under"]),
    started_at_ms: Number(row["started_at_ms"]),
    ended_at_ms: toNumber(row["ended_at_ms"]),
    status: row["status"] as SpanRow["status"],
    decided_by: fromNullable(row["decided_by"]),
    input_tokens: toNumber(row["input_tokens"]),
    cached_tokens: toNumber(row["cached_tokens"]),
    output_tokens: toNumber(row["output_tokens"]),
    usd: toNumber(row["usd"]),
  };
}

export function toUsageSum(row: DatabaseRow): UsageSum {
  return {
    day: fromNullable(row["day"]),
    key: fromNullable(row["key"]),
    calls: Number(row["calls"]),
    input_tokens: Number(row["input_tokens"]),
    cached_tokens: Number(row["cached_tokens"]),
    output_tokens: Number(row["output_tokens"]),
    reasoning_tokens: Number(row["reasoning_tokens"]),
    known_usd: Number(row["known_usd"]),
    unpriced_calls: Number(row["unpriced_calls"]),
    ms: Number(row["ms"]),
  };
}

export function toToolSum(row: DatabaseRow): ToolSum {
  return {
    tool: fromColumn(row["tool"]),
    calls: Number(row["calls"]),
    failed: Number(row["failed"]),
    denied: Number(row["denied"]),
    ms: Number(row["ms"]),
    max_ms: Number(row["max_ms"]),
    last_at_ms: Number(row["last_at_ms"]),
  };
}

export function toFailedCall(row: DatabaseRow): FailedCall {
  return {
    run_id: fromColumn(row["run_id"]),
    root_id: fromColumn(row["root_id"]),
    seq: Number(row["seq"]),
    tool: fromColumn(row["name"]),
    status: row["status"] as FailedCall["status"],
    decided_by: fromNullable(row["decided_by"]),
    at_ms: Number(row["started_at_ms"]),
    ended_at_ms: toNumber(row["ended_at_ms"]),
    title: fromColumn(row["title"]),
    label: fromNullable(row["label"]),
  };
}

export function toQuestionRow(row: DatabaseRow): QuestionRow {
  return {
    run_id: fromColumn(row["run_id"]),
    question: fromColumn(row["question"]),
    tenant: fromColumn(row["tenant"]),
    at_ms: Number(row["at_ms"]),
    until_ms: toNumber(row["until_ms"]),
    body: JSON.parse(String(row["body"])) as JsonObject,
    closed_at_ms: toNumber(row["closed_at_ms"]),
    verdict: (row["verdict"] ?? null) as QuestionRow["verdict"],
    reason: fromNullable(row["reason"]),
  };
}

function toNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}
