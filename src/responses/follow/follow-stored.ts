/**
 * Follows a stored response. A server that stops tells the client where to find the response: it continues at the
 * next start, and a client that sent its request again would pay twice.
 */

import { Failure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import { followResponse } from "../fold/read-response.ts";
import { toRunId } from "../fold/response-object.ts";
import type { Events } from "./live-response.ts";

type From = Parameters<typeof followResponse>[2];

export async function* followStored(place: Engine, id: string, from: From): Events {
  const { signal } = from;
  const told = new AbortController();
  const onAbort = (): void => told.abort(toContinued(id, signal?.reason));
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    yield* followResponse(place, toRunId(id), { ...from, signal: told.signal });
  } finally {
    // A connection, and its signal, outlives the response.
    signal?.removeEventListener("abort", onAbort);
  }
}

/** The reason unchanged, unless the server stops. */
function toContinued(id: string, reason: unknown): unknown {
  if (!(reason instanceof Failure) || reason.code !== "draining") return reason;
  const message = `The server stopped. Response \`${id}\` continues at the next start: GET /v1/responses/${id}.`;
  return new Failure("draining", message, { cause: reason, retryAfterMs: reason.retryAfterMs });
}
