/** A log for whoever wants its items alone: without the pieces of those that stand in it whole. */

import type { RunEvent } from "../../protocol/run-events.ts";

export function withoutWrittenDeltas(events: readonly RunEvent[]): RunEvent[] {
  /** Places of the turn whose items have ended, seen from behind. */
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
