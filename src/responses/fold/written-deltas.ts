/** A log for readers that only need its items: without the deltas of items that are in it whole. */

import type { RunEvent } from "../../protocol/run-events.ts";

export function withoutWrittenDeltas(events: readonly RunEvent[]): RunEvent[] {
  /** Indices of the turn whose items have ended, seen from the end. */
  const ended = new Set<number>();
  const kept: RunEvent[] = [];
  for (const event of events.toReversed()) {
    if (event.type === "turn_start") ended.clear();
    else if (event.type === "item_end") ended.add(event.index);
    else if (event.type === "item_start") ended.delete(event.index);
    else if ("delta" in event && ended.has(event.index)) continue;
    kept.push(event);
  }
  return kept.reverse();
}
