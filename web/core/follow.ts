/**
 * A stream of server-sent events over `fetch`, so that the token goes in a header. One stream for each
 * thing that is watched, from the last number that was seen; a stream that breaks is opened again there.
 */

import { ApiFailure, type Query, send } from "./api.ts";
import { readEvents } from "./sse.ts";

/** First wait before a broken stream is opened again; doubled up to the most. */
const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 15_000;

export interface Follow {
  readonly path: string;
  /** Asked before each try, so that it goes on from what was seen last. */
  query(): Query;
  /** Each event's data. Returning false ends the stream: what was watched is over. */
  take(data: unknown): boolean;
  /** Told when the connection is lost (with why) and when it is back (undefined). */
  state?(problem: string | undefined): void;
}

/** Follows until the signal aborts, `take` says that it is over, or the server refuses for good. */
export async function follow(wish: Follow, signal: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    try {
      const over = await followOnce(wish, signal, () => {
        waitMs = FIRST_WAIT_MS;
        wish.state?.(undefined);
      });
      if (over) return;
    } catch (failure) {
      if (signal.aborted) return;
      wish.state?.(failure instanceof Error ? failure.message : String(failure));
      if (failure instanceof ApiFailure && failure.status >= 400 && failure.status < 500) return;
    }
    await wait(waitMs, signal);
    waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
  }
}

async function followOnce(wish: Follow, signal: AbortSignal, opened: () => void): Promise<boolean> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(wish.query())) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const response = await send(`${wish.path}?${query}`, {
    signal,
    headers: { accept: "text/event-stream" },
  });
  opened();
  for await (const data of readEvents(response)) {
    if (!wish.take(data)) return true;
  }
  return false;
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
