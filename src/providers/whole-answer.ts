/** An answer that nobody watches being written, read to its end. */

import { toFailure } from "../base/failure.ts";
import type { ModelEvent } from "../protocol/model-events.ts";
import type { WholeAnswer } from "./provider.ts";

/** Rejects with the failure of an answer that had said nothing before. */
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

export function hasOutput(events: readonly ModelEvent[]): boolean {
  return events.some((event) => event.type !== "start");
}
