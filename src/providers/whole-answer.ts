/** Reads an answer to its end, for callers that do not stream. */

import { Failure, toFailure } from "../base/failure.ts";
import type { ModelEvent } from "../protocol/model-events.ts";
import type { WholeAnswer } from "./provider.ts";

/** Rejects with the failure of an answer that failed before any output. */
export async function collectAnswer(
  batches: AsyncIterable<readonly ModelEvent[]>,
): Promise<WholeAnswer> {
  const events: ModelEvent[] = [];
  try {
    for await (const batch of batches) for (const event of batch) events.push(event);
    return { events, failure: undefined };
  } catch (thrown) {
    if (!hasOutput(events)) throw thrown;
    return { events, failure: toFailure(thrown) };
  }
}

/** Rejects an answer without text, calls or a reason: the caller would take it for a success. */
export function checkSaid(events: readonly ModelEvent[]): void {
  const end = events.at(-1);
  if (end?.type !== "end" || end.reason !== "stop") return;
  if (events.some(({ type }) => type === "item_start")) return;
  throw new Failure("empty_answer", "The model's answer is empty, and no reason is given.");
}

export function hasOutput(events: readonly ModelEvent[]): boolean {
  return events.some((event) => event.type !== "start");
}
