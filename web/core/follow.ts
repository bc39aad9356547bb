/**
 * A stream of server-sent events over `fetch`, so that the token is in a header. A broken stream is opened again from
 * the last number that was seen. A hidden tab has no stream, because browsers open at most six connections to a
 * server, for all tabs together.
 */

import { ApiFailure, type Query, send, toQuery } from "./api.ts";
import { readEvents } from "./sse.ts";

/** The first wait before a broken stream is opened again; it doubles up to a limit. */
const FIRST_WAIT_MS = 400;
const MOST_WAIT_MS = 8000;
/** A person who looks at another tab for a moment returns to a live page. */
const HIDDEN_MS = 20_000;

export interface Follow {
  readonly path: string;
  /** Called before each try, so that the stream continues after the last event that was seen. */
  query(): Query;
  /** Each event's data. */
  take(data: unknown): void;
  /** Called each time the stream is opened: earlier events may have been missed. */
  opened?(): void;
  /** Called with the reason why the stream is not open; with undefined when it is. */
  state?(problem: ApiFailure | undefined): void;
}

/** Follows until the signal aborts, or the server says that the stream is complete or refused. */
export async function follow(wish: Follow, signal: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    await whenVisible(signal);
    try {
      const isDone = await followOnce(wish, signal, () => {
        waitMs = FIRST_WAIT_MS;
        wish.state?.(undefined);
        wish.opened?.();
      });
      if (isDone || signal.aborted) return;
    } catch (failure) {
      if (signal.aborted) return;
      const problem = toProblem(failure);
      wish.state?.(problem);
      if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) return;
    }
    if (document.hidden) continue;
    await wait(waitMs, signal);
    waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
  }
}

function toProblem(failure: unknown): ApiFailure {
  if (failure instanceof ApiFailure) return failure;
  return new ApiFailure(0, "unreachable", "The connection to the server was lost.");
}

async function followOnce(wish: Follow, signal: AbortSignal, opened: () => void): Promise<boolean> {
  const hidden = new AbortController();
  const stopWatching = onceHidden(() => hidden.abort());
  try {
    const response = await send(wish.path + toQuery(wish.query()), {
      signal: AbortSignal.any([signal, hidden.signal]),
      headers: { accept: "text/event-stream" },
    });
    opened();
    const events = readEvents(response);
    for (;;) {
      const { done, value } = await events.next();
      if (done) return value === true;
      // The stream broke on the server. The next try gets the reason, or continues.
      if (isBroken(value)) return false;
      wish.take(value);
    }
  } catch (failure) {
    if (hidden.signal.aborted) return false;
    throw failure;
  } finally {
    stopWatching();
  }
}

function isBroken(data: unknown): boolean {
  return typeof data === "object" && data !== null && "error" in data;
}

/** Calls back once the tab was hidden for a while. */
function onceHidden(call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(call, HIDDEN_MS);
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

async function whenVisible(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted) {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        document.removeEventListener("visibilitychange", done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      document.addEventListener("visibilitychange", done);
      signal.addEventListener("abort", done);
    });
  }
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
