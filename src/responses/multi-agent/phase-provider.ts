/**
 * Marks which texts of an agent are its answer and which come before it: clients of a team select the answer by that.
 * It is known when the next item begins, so the end of a message waits for it.
 */

import type { ItemEnd, ModelEvent } from "../../protocol/model-events.ts";
import type { Provider } from "../../providers/provider.ts";

export function withPhases(provider: Provider): Provider {
  return {
    name: provider.name,
    async *stream(request, call) {
      const phases = createPhases();
      for await (const batch of provider.stream(request, call)) {
        const events = batch.flatMap((event) => phases(event));
        if (events.length > 0) yield events;
      }
    },
  };
}

/** Nothing is withheld at the end of an answer: its last event is not the end of a message. */
function createPhases(): (event: ModelEvent) => ModelEvent[] {
  let held: ItemEnd | undefined;
  return (event) => {
    const before = held ? [toPhased(held, event)] : [];
    held = isMessageEnd(event) ? event : undefined;
    return held ? before : [...before, event];
  };
}

function isMessageEnd(event: ModelEvent): event is ItemEnd {
  return event.type === "item_end" && event.item.type === "message";
}

function toPhased(end: ItemEnd, next: ModelEvent): ItemEnd {
  if (end.item.type !== "message" || end.item.phase) return end;
  const phase = next.type === "end" && next.reason === "stop" ? "final_answer" : "commentary";
  return { ...end, item: { ...end.item, phase } };
}
