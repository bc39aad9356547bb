/** Logs of runs, built by hand: what the projections of a log are tested with. */

import type { Item } from "../../src/protocol/items.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import type {
  LoggedEvent,
  RunCompaction,
  RunEnd,
  RunEvent,
  RunSettings,
  RunStart,
  ToolEnd,
  ToolStart,
} from "../../src/protocol/run-events.ts";
import { toUsage } from "../../src/protocol/usage.ts";

export const USAGE = toUsage({ input: 1200, cached: 200, output: 34, reasoning: 4 });

export function runStart(settings: Partial<RunSettings> = {}): RunStart {
  return {
    type: "run_start",
    run_id: "run_01",
    parent_id: null,
    path: "/root",
    created_at_ms: 1_700_000_000_500,
    settings: {
      model: "openai/gpt-x",
      model_reason: "--model",
      instructions: null,
      tools: [],
      max_turns: 50,
      temperature: null,
      max_output_tokens: null,
      think: false,
      format: { type: "text" },
      approve: "ask",
      sandbox: "process",
      grant: [],
      limits: {},
      label: null,
      depth: 0,
      ...settings,
    },
    input: [{ type: "message", role: "user", content: "Hi" }],
  };
}

/** The log of one turn; the model's `end` becomes the turn's. */
export function turn(number: number, ...events: readonly ModelEvent[]): RunEvent[] {
  const at_ms = 1_700_000_001_000;
  const inner = events.filter((event) => event.type !== "end");
  const end = events.find((event) => event.type === "end");
  return [
    { type: "turn_start", turn: number, at_ms },
    ...inner,
    {
      type: "turn_end",
      turn: number,
      reason: end?.reason ?? "stop",
      usage: end?.usage ?? USAGE,
      cost_usd: null,
      at_ms,
    },
  ];
}

/** The conversation in short, before a turn. */
export function compaction(turn: number, more: Partial<RunCompaction> = {}): RunCompaction {
  const sizes = { items: 12, tokens_before: 9000, tokens_after: 3000 };
  const paid = { usage: USAGE, cost_usd: 0.25, at_ms: 1_700_000_001_000 };
  return { type: "compaction", turn, summary: "In short.", ...sizes, ...paid, ...more };
}

export function runEnd(more: Partial<RunEnd> = {}): RunEnd {
  return {
    type: "run_end",
    ending: "completed",
    message: "",
    output_text: "",
    output_json: undefined,
    error: null,
    turns: 1,
    tool_calls: 0,
    usage: USAGE,
    cost_usd: null,
    spent: {},
    at_ms: 1_700_000_003_700,
    ...more,
  };
}

export function runFailure(message = "The key was refused."): RunEnd {
  return runEnd({ ending: "failed", message, error: { code: "provider_unauthorized", message } });
}

export const answerStart: ModelEvent = { type: "start", response_id: "resp_a", model: "gpt-x" };

/** A message in pieces, opened, written and closed. */
export function message(index: number, ...deltas: readonly string[]): ModelEvent[] {
  const item: Item = { type: "message", role: "assistant", content: [] };
  const text = deltas.join("");
  return [
    { type: "item_start", index, item },
    ...deltas.map((delta): ModelEvent => ({ type: "text_delta", index, part: 0, delta })),
    {
      type: "item_end",
      index,
      item: { ...item, status: "completed", content: [{ type: "output_text", text }] },
    },
  ];
}

/** A summary of reasoning in pieces. */
export function reasoning(index: number, ...deltas: readonly string[]): ModelEvent[] {
  const item: Item = { type: "reasoning", summary: [] };
  const summary =
    deltas.length === 0 ? [] : [{ type: "summary_text" as const, text: deltas.join("") }];
  return [
    { type: "item_start", index, item },
    ...deltas.map(
      (delta): ModelEvent => ({ type: "reasoning_delta", index, part: 0, kind: "summary", delta }),
    ),
    { type: "item_end", index, item: { ...item, summary } },
  ];
}

export interface Call {
  readonly call_id: string;
  readonly name: string;
}

/** A call with its arguments in pieces. */
export function functionCall(
  index: number,
  call: Call,
  ...deltas: readonly string[]
): ModelEvent[] {
  const item: Item = { type: "function_call", ...call, arguments: "" };
  return [
    { type: "item_start", index, item },
    ...deltas.map((delta): ModelEvent => ({ type: "arguments_delta", index, delta })),
    { type: "item_end", index, item: { ...item, arguments: deltas.join("") } },
  ];
}

/** The arguments of a tool and its output. */
export function toolRun(
  call: Call,
  output: string,
  more: { readonly arguments?: string; readonly failed?: boolean } = {},
): [ToolStart, ToolEnd] {
  const at_ms = 1_700_000_002_000;
  const { arguments: text = "{}", failed = false } = more;
  const item: Item = { type: "function_call_output", call_id: call.call_id, output };
  return [
    { type: "tool_start", ...call, arguments: text, at_ms },
    { type: "tool_end", ...call, item, failed, at_ms },
  ];
}

export function toLog(events: readonly RunEvent[]): LoggedEvent[] {
  return events.map((event, seq) => ({ run_id: "run_01", seq, event }));
}
