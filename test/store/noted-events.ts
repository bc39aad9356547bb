/** Events that the index of runs is made from, and runs that write them. */

import type { RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import { toUsage } from "../../src/protocol/usage.ts";
import type { NewRun } from "../../src/store/journal.ts";
import type { Store } from "../../src/store/store.ts";
import { newRun } from "./store-contract.ts";

/** 2026-11-18, ten in the morning. */
export const NOW = Date.UTC(2026, 10, 18, 10);
/** The day of `NOW`. */
export const DAY = "2026-11-18";
export const WINDOW = { tenant: undefined, from_day: DAY, to_day: DAY };

export function task(id: string, more: Partial<NewRun> = {}): NewRun {
  const input = { model: "acme/large", items: [], agent: "reviewer", root: "/srv/one" };
  return newRun(id, { input, created_at_ms: NOW, ...more });
}

export async function begin(store: Store, run: NewRun): Promise<void> {
  await store.createRun({ ...run, owner: "w" });
}

export function turnStart(turn: number, at: number): RunEvent {
  return { type: "turn_start", turn, at_ms: NOW + at };
}

export function turnEnd(
  turn: number,
  at: number,
  { usd, model }: { usd: number | null; model?: string },
): RunEvent {
  const usage = toUsage({ input: 10, cached: 4, output: 5, reasoning: 2 });
  const by = model === undefined ? {} : { by: { model, deployment: 0 } as never };
  return {
    type: "turn_end",
    turn,
    reason: "complete" as never,
    usage,
    cost_usd: usd,
    ...by,
    at_ms: NOW + at,
  };
}

export function toolStart(call_id: string, name: string, at: number): RunEvent {
  return { type: "tool_start", call_id, name, arguments: "{}", at_ms: NOW + at };
}

export function toolEnd(call_id: string, name: string, at: number, failed: boolean): RunEvent {
  const item = { type: "function_call_output", call_id, output: "out" } as const;
  return { type: "tool_end", call_id, name, item, failed, at_ms: NOW + at };
}

export function decision(
  call_id: string,
  name: string,
  verdict: "allow" | "deny",
  { at, asked }: { at: number; asked?: string },
): RunEvent {
  const why = { rule: null, source: null, reason: "because", sandbox: "none" };
  const question = asked === undefined ? {} : { question: asked };
  return {
    type: "tool_decision",
    call_id,
    name,
    verdict,
    by: "person",
    ...why,
    ...question,
    at_ms: NOW + at,
  };
}

export function question(name: string, at = 0): RunEvent {
  return {
    type: "tool_question",
    question: name,
    call_id: "c",
    name: "shell",
    arguments: '{"a":"\\u0000"}',
    effect: "execute",
    reason: "it runs a command",
    sandbox: "none",
    always: [],
    asker: null,
    until_ms: NOW + 60_000,
    at_ms: NOW + at,
  };
}

export function childStart(child_id: string, label: string, at: number): RunEvent {
  const call_key = `${child_id.slice(0, child_id.lastIndexOf("/"))}/tool:1.0`;
  const order = { requested: {}, effective: {}, depth: 1 };
  return { type: "child_start", call_key, child_id, label, ...order, at_ms: NOW + at };
}

export function toRunEnd(usage: Ended["usage"] = { input: 0, output: 0 }): RunEnd {
  return {
    type: "run_end",
    ending: "failed",
    message: "It broke.",
    output_text: "",
    output_json: undefined,
    error: null,
    turns: 0,
    tool_calls: 0,
    usage: toUsage(usage),
    cost_usd: 0,
    spent: {},
    at_ms: NOW + 999,
  };
}

interface Ended {
  readonly message?: string;
  readonly usage?: { input: number; output: number };
  readonly cost_usd?: number | null;
}

export async function finish(
  store: Store,
  id: string,
  ending: "completed" | "failed" | "cancelled",
  { message = "", usage, cost_usd = 0 }: Ended = {},
): Promise<void> {
  const status = await store.getRunStatus(id);
  const at_ms = NOW + 999;
  const end = { ...toRunEnd(usage), ending, message, cost_usd };
  const firstSeq = status?.next_seq ?? 0;
  await store.finish(id, 1, { ending, result: null, firstSeq, events: [end], at_ms });
}
