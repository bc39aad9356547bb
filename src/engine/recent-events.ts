/**
 * The log of a run as this process wrote it, for its own body: so that an answer of ordinary size is not read
 * and parsed again at its end. Holds what is alive anyway, the items of the run, and little beside them.
 */

import type { LoggedEvent, RunEvent } from "../protocol/run-events.ts";

/** Longer logs are read from the store. */
const MAX_EVENTS = 4096;
const MAX_CHARS = 256 * 1024;

export interface RecentEvents {
  add(events: readonly RunEvent[]): void;
  /** The whole log; undefined where it is too long, or began in another process. */
  all(id: string): LoggedEvent[] | undefined;
}

export function createRecentEvents(start: number): RecentEvents {
  let kept: RunEvent[] | undefined = start === 0 ? [] : undefined;
  let chars = 0;
  return {
    add(events) {
      if (!kept) return;
      for (const event of events) {
        if ("delta" in event) chars += event.delta.length;
        kept.push(event);
      }
      if (kept.length > MAX_EVENTS || chars > MAX_CHARS) kept = undefined;
    },
    all: (id) => kept?.map((event, seq) => ({ run_id: id, seq, event })),
  };
}
