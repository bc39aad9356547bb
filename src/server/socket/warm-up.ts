/**
 * A turn with `generate: false`: clients send the beginning of the next turn before they know its question. Here only
 * the context can be prepared, so the response is empty and ends at once.
 */

import { makeId } from "../../base/ids.ts";
import type { EmittedEvent, EmittedResponse } from "../../protocol/emitted.ts";
import { NO_USAGE } from "../../protocol/usage.ts";
import { NO_RUN, toResponse } from "../../responses/fold/response-object.ts";
import { parseAsked } from "../../responses/request/asked-response.ts";
import { toEcho } from "../../responses/request/echo.ts";
import type { CreateBody } from "./client-event.ts";

export interface WarmUp {
  readonly response: EmittedResponse;
  readonly events: readonly EmittedEvent[];
}

/** Rejects what a turn with an answer would reject, as far as the request itself shows it. */
export function warmUp(body: CreateBody, nowMs: number): WarmUp {
  // Kept by the connection only, whatever the request says; nothing of it runs in the background.
  const alone = { ...body, input: body["input"] ?? [], store: false, background: false };
  const asked = parseAsked(alone, { store: false });
  const instructions = asked.request.instructions ?? null;
  const echo = toEcho(asked, { instructions, model: "" });
  const begun = toResponse(
    { run_id: makeId("run"), created_at_ms: nowMs, settings: NO_RUN },
    { echo, include: [], ignored: asked.ignored },
  );
  const response: EmittedResponse = {
    ...begun,
    status: "completed",
    completed_at: begun.created_at,
    usage: NO_USAGE,
  };
  return {
    response,
    events: [
      { type: "response.created", response: begun, sequence_number: 0 },
      { type: "response.in_progress", response: begun, sequence_number: 1 },
      { type: "response.completed", response, sequence_number: 2 },
    ],
  };
}
