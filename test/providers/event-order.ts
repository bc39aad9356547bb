/** The order that `protocol/model-events.ts` promises, as a check. */

import assert from "node:assert/strict";
import type { ModelEvent } from "../../src/protocol/model-events.ts";

export function assertEventOrder(events: readonly ModelEvent[]): void {
  assert.equal(events[0]?.type, "start", "the first event is `start`");
  assert.equal(events.at(-1)?.type, "end", "the last event is `end`");
  const open = new Set<number>();
  const seen = new Set<number>();
  for (const [at, event] of events.entries()) {
    if (event.type === "start") assert.equal(at, 0, "one `start`");
    if (event.type === "end") assert.equal(at, events.length - 1, "one `end`");
    if (event.type === "item_start") {
      assert.ok(!seen.has(event.index), `item ${event.index} starts once`);
      open.add(event.index);
      seen.add(event.index);
    } else if ("index" in event) {
      assert.ok(open.has(event.index), `${event.type} of item ${event.index} is inside it`);
    }
    if (event.type === "item_end") open.delete(event.index);
  }
  assert.equal(open.size, 0, "every item ends");
}
