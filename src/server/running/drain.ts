/**
 * Coming to an end: answers on their way are waited for, nothing new is taken. A connection that is kept
 * open for more requests ends with its next answer.
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
  /** Knows what is on its way. */
  watchApp(app: App): App;
  /** Turns away what is new once it drains. Inside whoever counts and logs requests. */
  refuseNew(app: App): App;
  /**
   * Resolves when nothing is on its way any more, `others` included, or the time is up: then with false.
   * May be called again to wait on.
   */
  begin(limitMs: number, clock: Clock, others?: Promise<unknown>): Promise<boolean>;
  /** Ends what is still on its way: each answer says that the server stops. */
  cut(): void;
}

/** `prefix` is the path in front of all addresses. */
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
      // Health is told to the end; it decides who is sent where.
      const isWatched = WATCHED.has(pathBehind(prefix(), path) ?? "");
      if (!isDraining || isWatched) return await app(request, response);
      request.resume();
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
      // Headers that are still to be sent tell the client that its connection ends here.
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

/** For answers that the server had no time to finish. */
export function toCut(): Failure {
  const message = "The server stopped before the answer was finished. Send the request again.";
  return new Failure("draining", message, { retryAfterMs: 1000 });
}

function toDraining(): Failure {
  const message = "The server is about to stop. Send the request again.";
  return new Failure("draining", message, { retryAfterMs: 1000 });
}
