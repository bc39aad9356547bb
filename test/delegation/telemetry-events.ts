/** Logs of runs for the tests of telemetry. Everything that must not leave the process contains `SECRET`. */

import type {
  ChildEnd,
  ChildStart,
  LoggedEvent,
  RunEnd,
  RunEvent,
  RunSettings,
  RunStart,
} from "../../src/protocol/run-events.ts";
import { NO_USAGE, toUsage } from "../../src/protocol/usage.ts";

/** Numbers the events of a run from 0. */
export function logOf(run_id: string, events: readonly RunEvent[]): LoggedEvent[] {
  return events.map((event, seq) => ({ run_id, seq, event }));
}

export function runStart(
  run_id: string,
  settings: Partial<RunSettings> = {},
  parent_id: string | null = null,
): RunStart {
  return {
    type: "run_start",
    run_id,
    parent_id,
    path: parent_id === null ? "/root" : `/root/${run_id.split("/").at(-1)}`,
    created_at_ms: 1_000,
    settings: {
      model: "mistral/large",
      model_reason: "asked for",
      instructions: "SECRET instructions",
      tools: [],
      max_turns: 5,
      temperature: 0.5,
      max_output_tokens: 900,
      think: false,
      format: { type: "text" },
      approve: "auto",
      sandbox: "process",
      grant: [],
      limits: {},
      label: null,
      depth: 0,
      ...settings,
    },
    input: [{ type: "message", role: "user", content: "SECRET prompt" }],
  };
}

/** One turn, from 2 s to 3 s: 100 tokens in, 20 of them from the cache, and 10 out. */
export function turn(number = 1, start = 2_000): RunEvent[] {
  const usage = toUsage({ input: 100, cached: 20, cacheWrite: 5, output: 10, reasoning: 4 });
  return [
    { type: "turn_start", turn: number, at_ms: start },
    { type: "start", response_id: "resp_9", model: "large-2607" },
    { type: "text_delta", index: 0, part: 0, delta: "SECRET answer" },
    {
      type: "turn_end",
      turn: number,
      reason: "stop",
      usage,
      cost_usd: 0.25,
      at_ms: start + 1_000,
    },
  ];
}

export function toolStart(call_id: string, name = "read", at_ms = 4_000): RunEvent {
  return { type: "tool_start", call_id, name, arguments: '{"path":"SECRET path"}', at_ms };
}

export function toolDecision(
  call_id: string,
  verdict: "allow" | "deny" = "allow",
  at_ms = 4_100,
): RunEvent {
  return {
    type: "tool_decision",
    call_id,
    name: "read",
    verdict,
    at_ms,
    by: "rule",
    rule: "allow read(*)",
    source: "SECRET source",
    reason: "SECRET reason",
    sandbox: "process",
  };
}

export function toolEnd(
  call_id: string,
  { failed = false, name = "read", at_ms = 5_000 } = {},
): RunEvent {
  const item = { type: "function_call_output", call_id, output: "SECRET output" } as const;
  return { type: "tool_end", call_id, name, item, failed, at_ms };
}

export function childStart(
  child_id: string,
  call_key: string,
  effective: ChildStart["effective"] = {},
): ChildStart {
  return {
    type: "child_start",
    child_id,
    call_key,
    label: "helper",
    depth: 1,
    requested: {},
    at_ms: 4_200,
    effective: { max_turns: 8, tools: ["fetch", "grep"], ...effective },
  };
}

export function childEnd(child_id: string, more: Partial<ChildEnd> = {}): ChildEnd {
  return {
    type: "child_end",
    child_id,
    label: "helper",
    ending: "completed",
    message: "SECRET message",
    turns: 2,
    usage: toUsage({ input: 30, output: 2 }),
    cost_usd: null,
    at_ms: 4_800,
    ...more,
  };
}

export function runEnd(more: Partial<RunEnd> = {}): RunEnd {
  return {
    type: "run_end",
    ending: "completed",
    message: "",
    output_text: "SECRET answer",
    output_json: undefined,
    error: null,
    turns: 1,
    tool_calls: 0,
    usage: NO_USAGE,
    cost_usd: 0.25,
    spent: {},
    at_ms: 6_000,
    ...more,
  };
}
