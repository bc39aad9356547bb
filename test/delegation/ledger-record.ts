/** Records of trees, written by hand, for the tests of the ledger's folds. */

import type {
  ChildEnd,
  ChildStart,
  RunEvent,
  ToolDecision,
} from "../../src/protocol/run-events.ts";
import type { ToolQuestion } from "../../src/protocol/tool-question.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { runEnd, runStart, USAGE } from "../responses/logged-run.ts";

export type Logs = Readonly<Record<string, readonly RunEvent[]>>;

/** Writes each log under its id; a child's id is its parent's followed by `/key`. */
export async function record(logs: Logs, store: Store = createMemoryStore()): Promise<Store> {
  let created_at_ms = 1000;
  for (const [id, events] of Object.entries(logs)) {
    const parent_id = id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : null;
    const path = id.replace(/^[^/]*/, "/root");
    const title = parent_id === null ? "the prompt" : id.slice(id.lastIndexOf("/") + 1);
    await store.createRun({
      id,
      parent_id,
      path,
      title,
      created_at_ms,
      name: "a",
      input: {},
    });
    created_at_ms++;
    const epoch = (await store.claim(id, "worker")) ?? 0;
    const end = events.at(-1);
    if (end?.type !== "run_end") {
      await store.append(id, epoch, 0, events);
      continue;
    }
    const { ending, at_ms } = end;
    await store.finish(id, epoch, { ending, result: null, firstSeq: 0, events, at_ms });
  }
  return store;
}

export function start(id: string, at_ms: number, label: string | null = null): RunEvent {
  const depth = id.split("/").length - 1;
  const parent_id = depth === 0 ? null : id.slice(0, id.lastIndexOf("/"));
  const path = id.replace(/^[^/]*/, "/root");
  return { ...runStart({ label, depth }), run_id: id, parent_id, path, created_at_ms: at_ms };
}

export function call(
  turn: number,
  fromMs: number,
  toMs: number,
  cost_usd: number | null,
): RunEvent[] {
  return [
    { type: "turn_start", turn, at_ms: fromMs },
    { type: "text_delta", index: 0, part: 0, delta: "…" },
    { type: "turn_end", turn, reason: "stop", usage: USAGE, cost_usd, at_ms: toMs },
  ];
}

export function tool(name: string, fromMs: number, toMs: number, failed = false): RunEvent[] {
  const call_id = `call_${name}_${fromMs}`;
  const item = { type: "function_call_output", call_id, output: "ok" } as const;
  return [
    { type: "tool_start", call_id, name, arguments: '{"path":"a.txt"}', at_ms: fromMs },
    { type: "tool_end", call_id, name, item, failed, at_ms: toMs },
  ];
}

/** A call that waits for a person: only its question. */
export function asked(name: string, at_ms: number, text = '{"path":"a.txt"}'): ToolQuestion {
  return {
    type: "tool_question",
    question: "tool:1.0",
    call_id: `call_${name}_${at_ms}`,
    name,
    arguments: text,
    effect: "write",
    reason: "it changes files",
    sandbox: "process",
    always: [name],
    asker: null,
    until_ms: null,
    at_ms,
  };
}

export function decided(name: string, at_ms: number): ToolDecision {
  return {
    type: "tool_decision",
    question: "tool:1.0",
    call_id: `call_${name}_${at_ms}`,
    name,
    verdict: "allow",
    by: "person",
    rule: null,
    source: null,
    reason: "yes",
    sandbox: "process",
    at_ms,
  };
}

export function childStart(child_id: string, label: string, at_ms: number): ChildStart {
  const effective = { model: "openai/gpt-x" };
  const call_key = "run/tool:1.0";
  return {
    type: "child_start",
    call_key,
    child_id,
    label,
    depth: 1,
    requested: {},
    effective,
    at_ms,
  };
}

export function childEnd(child_id: string, label: string, more: Partial<ChildEnd> = {}): ChildEnd {
  return {
    type: "child_end",
    child_id,
    label,
    ending: "completed",
    message: "",
    turns: 2,
    usage: USAGE,
    cost_usd: 0,
    at_ms: 3000,
    ...more,
  };
}

/** A run that has used nothing beyond the finished calls of its log. */
export function end(at_ms: number, more: Parameters<typeof runEnd>[0] = {}): RunEvent {
  return runEnd({ at_ms, turns: 0, usage: NO_USAGE, ...more });
}
