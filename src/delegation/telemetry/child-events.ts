/** Events of children, as events of their parent's spans, under the names of the log lines. */

import { type ChildEnd, type ChildStart, ENDINGS } from "../../protocol/run-events.ts";
import { hasWorked, NO_ANSWER } from "../envelope.ts";
import type { SubagentEvent } from "../subagent-events.ts";
import { SPAN_EVENTS, toAttributes } from "./genai.ts";
import type { SpanEvent } from "./signals.ts";
import { toSubagentFields } from "./subagent-log.ts";

export function toChildStartEvent(start: ChildStart): SpanEvent {
  const { child_id, at_ms } = start;
  return toSpanEvent(toSpawnEvent(start), at_ms, toAttributes({ child_id }));
}

export function toSpawnEvent({ label, depth, effective }: ChildStart): SubagentEvent {
  const { max_turns, tools } = effective;
  return {
    event: "spawn",
    label,
    depth,
    max_turns: typeof max_turns === "number" ? max_turns : 0,
    allowed_tools: Array.isArray(tools) ? tools.map(String) : [],
  };
}

/** `depth` is the child's. */
export function toChildEndEvent(end: ChildEnd, depth: number): SpanEvent {
  const { child_id, ending, at_ms } = end;
  return toSpanEvent(toSubagentEvent(end, depth), at_ms, toAttributes({ child_id, ending }));
}

function toSubagentEvent(end: ChildEnd, depth: number): SubagentEvent {
  const { label, ending, turns, usage, no_answer = false } = end;
  if (ending === "max_turns") {
    return { event: "max_turns_exceeded", label, depth, max_turns: turns };
  }
  if (!hasWorked(ending, { isSilent: no_answer })) {
    // Not its message, which may quote the conversation.
    const error = ending === "completed" ? NO_ANSWER : ENDINGS[ending].summary;
    return { event: "error", label, depth, error };
  }
  const status = ending === "completed" ? "complete" : "incomplete";
  const figures = { turns_used: turns, tokens_consumed: usage.total_tokens, status } as const;
  return { event: "complete", label, depth, ...figures };
}

function toSpanEvent(event: SubagentEvent, atMs: number, more: SpanEvent["attributes"]): SpanEvent {
  const attributes = { ...toSubagentFields(event), ...more };
  return { name: `${SPAN_EVENTS.subagent}${event.event}`, atMs, attributes };
}
