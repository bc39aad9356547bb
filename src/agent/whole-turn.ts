/** A turn that was answered before it was written down. Pure. */

import type { Item } from "../protocol/items.ts";
import type { ModelEvent } from "../protocol/model-events.ts";
import type { Notice, RunEvent } from "../protocol/run-events.ts";
import { collect, type ModelAnswer, type TurnParts, toAnswer, toLastEvents } from "./turn.ts";

/** The log of an answer that came whole, from `turn_start` to `turn_end`, with the events that came meanwhile. */
export function toWholeTurn(
  batch: readonly ModelEvent[],
  notices: readonly Notice[],
  { costOf, startMs, endMs }: WholeTurn,
): { readonly answer: ModelAnswer; readonly events: readonly RunEvent[] } | undefined {
  const end = batch.find((event) => event.type === "end");
  if (!end) return undefined;
  const items: Item[] = [];
  collect(batch, items, () => {});
  const answer = toAnswer(items, end, costOf);
  const start: RunEvent = { type: "turn_start", turn: 1, at_ms: startMs };
  return { answer, events: [start, ...notices, ...toLastEvents(1, { batch, answer }, endMs)] };
}

interface WholeTurn extends Pick<TurnParts, "costOf"> {
  readonly startMs: number;
  readonly endMs: number;
}
