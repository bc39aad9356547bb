/**
 * Selects the events of an agent's log that are copied to the log of the run that started it. Pure.
 */

import { createHash } from "node:crypto";
import type { Item } from "../../protocol/items.ts";
import type { ChildEvent, LoggedEvent, RunEvent } from "../../protocol/run-events.ts";

/** Events that a client sees; the others concern only the agent itself. */
const SHOWN: ReadonlySet<RunEvent["type"]> = new Set([
  "turn_start",
  "turn_end",
  "item_start",
  "text_delta",
  "refusal_delta",
  "reasoning_delta",
  "arguments_delta",
  "annotation",
  "opaque",
  "item_end",
  "tool_start",
  "tool_progress",
  "tool_end",
  "run_resume",
  "run_end",
]);

export function toToldAgain({ run_id, seq, event }: LoggedEvent, agent: string): ChildEvent[] {
  const place = { type: "child_event", child_id: run_id, child_seq: seq } as const;
  // Events that the agent itself copied already have the names of their agents.
  if (event.type === "child_event") return [{ ...place, agent: event.agent, event: event.event }];
  if (!SHOWN.has(event.type)) return [];
  return [{ ...place, agent, event: withOwnCallIds(event, agent) as ChildEvent["event"] }];
}

/**
 * Each model numbers its calls itself, and the client answers by that number alone: the calls of agents other than
 * the first get the agent's mark.
 */
function withOwnCallIds(event: RunEvent, agent: string): RunEvent {
  switch (event.type) {
    case "item_start":
    case "item_end":
      return { ...event, item: mark(event.item, agent) };
    case "tool_end":
      return event.shown
        ? { ...event, shown: event.shown.map((item) => mark(item, agent)) }
        : event;
    default:
      return event;
  }
}

const MAX_CHARS = 64;
const MARK_CHARS = 6;

function mark(item: Item, agent: string): Item {
  if (!("call_id" in item) || typeof item.call_id !== "string") return item;
  const end = createHash("sha256").update(agent).digest("hex").slice(0, MARK_CHARS);
  const start = item.call_id.slice(0, MAX_CHARS - MARK_CHARS - 1);
  return { ...item, call_id: `${start}_${end}` } as Item;
}
