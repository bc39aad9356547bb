/**
 * One reader of one run's log. Stored events come from the store; events that this process writes meanwhile come from
 * the hub, and a reader too slow for its buffer goes back to the store. Events are identified by their numbers, so
 * there is neither a gap nor a repetition in between.
 */

import type { LoggedEvent } from "../protocol/run-events.ts";
import type { Store } from "../store/store.ts";
import type { Hub, RunEventsListener } from "./hub.ts";
import type { Look } from "./look.ts";

const PAGE_EVENTS = 1000;
/** A few seconds of a fast model; a slower reader costs a query, and no memory. */
const MAX_BUFFERED = 2048;
/** How often to look at a silent run that another process owns. */
export const POLL_MS = 200;
/** How often to look if the store reports what others write: for news that was lost. */
export const NEWS_POLL_MS = 1000;
/** How often while it writes: how far a reader in another process lags. A look takes 0.03 ms. */
const BUSY_POLL_MS = 25;

interface FollowParts {
  readonly store: Store;
  readonly hub: Hub;
  /** True if this process runs it, so that the hub has its events. */
  isOwned(id: string): boolean;
  readonly look: Look;
}

export async function* followRun(
  parts: FollowParts,
  id: string,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly LoggedEvent[]> {
  const { store, hub } = parts;
  const listener = hub.listen(id, MAX_BUFFERED);
  let last = Math.max(after, -1);
  let pollMs = POLL_MS;
  try {
    for (;;) {
      // Asked before the log is read: when it says ended, the log is read to its very end.
      const run = await parts.look(id);
      const before = last;
      last = yield* readOn(store, id, last, signal);
      if (run.status === "ended") return;
      if (parts.isOwned(id)) {
        const heard = yield* hearOn(parts, listener, { id, last, signal });
        if (heard.hasEnded) return;
        last = heard.last;
        continue;
      }
      pollMs = last > before ? BUSY_POLL_MS : Math.min(pollMs * 2, POLL_MS);
      await listener.wait(store.news?.isLive ? NEWS_POLL_MS : pollMs, signal);
    }
  } finally {
    listener.close();
  }
}

/** Yields what the store has after `after`; returns the last number seen. */
async function* readOn(
  store: Store,
  id: string,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly LoggedEvent[], number> {
  let last = after;
  for (;;) {
    signal?.throwIfAborted();
    const page = await store.readEvents(id, last, PAGE_EVENTS);
    if (page.length === 0) return last;
    last += page.length;
    yield page;
  }
}

interface Heard {
  readonly last: number;
  readonly hasEnded: boolean;
}

/**
 * Yields what is published, until the run has ended, this process has no more events of it or too many were missed.
 */
async function* hearOn(
  { isOwned }: FollowParts,
  listener: RunEventsListener,
  { id, last: after, signal }: { id: string; last: number; signal: AbortSignal | undefined },
): AsyncGenerator<readonly LoggedEvent[], Heard> {
  let last = after;
  while (isOwned(id)) {
    await listener.wait(undefined, signal);
    const batches = listener.take();
    if (!batches) break;
    for (const batch of batches) {
      const fresh = batch.filter(({ seq }) => seq > last);
      if (fresh.length === 0) continue;
      // Another process had the run meanwhile, and what it wrote is only in the store.
      if (fresh[0]?.seq !== last + 1) return { last, hasEnded: false };
      last += fresh.length;
      yield fresh;
      // Published once the ending is written: nothing can follow it.
      if (fresh.at(-1)?.event.type === "run_end") return { last, hasEnded: true };
    }
  }
  return { last, hasEnded: false };
}
