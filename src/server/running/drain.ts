/**
 * Stops a server gracefully: it waits for answers in progress and accepts nothing new. A connection that is kept open
 * for more requests ends with its next answer.
 */

import type { ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { App } from "../app.ts";
import { cutClient } from "../client-signal.ts";
import { pathBehind, WATCHED } from "../path-prefix.ts";
import { sendFailure } from "../send-answer.ts";

export interface Drain {
  readonly isDraining: boolean;
  /** Wraps an app so that its answers in progress are known. */
  watchApp(app: App): App;
  /**
   * Wraps an app so that new requests are refused while the server stops. The wrapper is inside the one that counts
   * and logs requests.
   */
  refuseNew(app: App): App;
  /**
   * Resolves when nothing is in progress any more, `others` included, or with false when the time is up. May be
   * called again to wait longer.
   */
  begin(limitMs: number, clock: Clock, others?: Promise<unknown>): Promise<boolean>;
  /** Ends the remaining answers: each says that the server stops. */
  cut(): void;
}

/** `prefix` is the path before all addresses. */
export function createDrain(prefix: () => string = () => ""): Drain {
  const open = new Set<ServerResponse>();
  let onEmpty: (() => void) | undefined;
  let isDraining = false;
  return {
    get isDraining() {
      return isDraining;
    },
    refuseNew: (app) => async (request, response) => {
      const path = (request.url ?? "").split("?", 1)[0] ?? "";
      // Health is answered to the end: load balancers decide by it.
      const isWatched = WATCHED.has(pathBehind(prefix(), path) ?? "");
      if (!isDraining || isWatched) return await app(request, response);
      sendFailure(response, toDraining());
    },
    watchApp: (app) => async (request, response) => {
      if (isDraining) response.setHeader("connection", "close");
      open.add(response);
      try {
        await app(request, response);
      } finally {
        open.delete(response);
        if (open.size === 0) onEmpty?.();
      }
    },
    async begin(limitMs, clock, others) {
      isDraining = true;
      // Headers that are not sent yet tell the client that its connection ends here.
      for (const response of open) {
        if (!response.headersSent) response.setHeader("connection", "close");
      }
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
        if (open.size === 0) resolve();
      });
      const done = new AbortController();
      const late = clock.sleep(limitMs, done.signal).catch(() => {});
      const all = Promise.all([empty, others]).then(() => true);
      const isEmpty = await Promise.race([all, late.then(() => false)]);
      done.abort();
      return isEmpty;
    },
    cut() {
      for (const { socket } of open) if (socket) cutClient(socket, toCut());
    },
  };
}

/** The failure of answers that the server had no time to finish. */
export function toCut(): Failure {
  const message = "The server stopped before the answer was finished. Send the request again.";
  return new Failure("draining", message, { retryAfterMs: 1000 });
}

function toDraining(): Failure {
  const message = "The server is about to stop. Send the request again.";
  return new Failure("draining", message, { retryAfterMs: 1000 });
}
