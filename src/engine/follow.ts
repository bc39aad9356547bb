/**
 * One reader of one run's log. What is in the store comes from the store; what happens meanwhile in
 * this process comes from the hub, and a reader too slow for its buffer goes back to the store.
 * Events are told apart by their numbers, so the seam shows neither a gap nor a repetition.
 */

import type { LoggedEvent } from "../protocol/run-events.ts";
import { toUnknownRun } from "../store/refusal.ts";
import type { Store } from "../store/store.ts";
import type { Hub, Listener } from "./hub.ts";

const PAGE_EVENTS = 1000;
/** A few seconds of a fast model; a reader further behind costs no memory but a query. */
const MAX_BUFFERED = 2048;
/** How often to look at a run that another process owns, while it is silent. */
export const POLL_MS = 200;
/** How often where the store tells of what others write: for what it may have lost. */
export const NEWS_POLL_MS = 1000;
/** How often while it speaks: what a reader of another process lags behind. A look takes 0.03 ms. */
const BUSY_POLL_MS = 25;

interface FollowParts {
  readonly store: Store;
  readonly hub: Hub;
  /** Whether this process runs it, so that the hub tells of its events. */
  isOwned(id: string): boolean;
  /** Throws when nothing more can come. */
  check(id: string): void;
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
      parts.check(id);
      // Asked before the log is read: when it says ended, the log is read to its very end.
      const run = await store.getRunStatus(id);
      if (!run) throw toUnknownRun(id);
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

/** Yields what is published, until the run has ended, this process has no more to tell or too much was missed. */
async function* hearOn(
  { isOwned }: FollowParts,
  listener: Listener,
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
      // Another process had the run meanwhile, and what it wrote is in the store alone.
      if (fresh[0]?.seq !== last + 1) return { last, hasEnded: false };
      last += fresh.length;
      yield fresh;
      // Published once the ending is written: nothing can follow it.
      if (fresh.at(-1)?.event.type === "run_end") return { last, hasEnded: true };
    }
  }
  return { last, hasEnded: false };
}
