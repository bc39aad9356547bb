/** A model in the same process that gives scripted answers: for tests of the layers above the wires. */

import { Failure, type FailureCode } from "../base/failure.ts";
import type { ModelEvent } from "../protocol/model-events.ts";
import type { ModelCall, ModelRequest, Provider } from "../providers/provider.ts";
import type { Reply, StatusReply } from "./reply.ts";
import { createCountingIds, replyEvents } from "./reply-events.ts";

export interface ScriptedProvider extends Provider {
  /** Every request, oldest first. */
  readonly requests: readonly ModelRequest[];
}

/** Gives the replies in order; further requests reject with `provider_failed`. */
export function createScriptedProvider(...replies: readonly Reply[]): ScriptedProvider {
  const rest = [...replies];
  const requests: ModelRequest[] = [];
  const makeId = createCountingIds();

  async function* stream(
    request: ModelRequest,
    { signal }: ModelCall,
  ): AsyncGenerator<readonly ModelEvent[], void> {
    requests.push(request);
    const reply = rest.shift();
    if (!reply) throw new Failure("provider_failed", "script exhausted");
    if (reply.kind === "status") throw toStatusFailure(reply);
    if (reply.kind === "raw") {
      throw new Failure(
        "invalid_request",
        "`reply.raw` is bytes of a wire: give it to an upstream.",
      );
    }
    yield* replyEvents(reply, request, { signal, makeId });
  }

  return { name: "scripted", requests, stream };
}

function toStatusFailure({ status, body, headers }: StatusReply): Failure {
  const retryAfter = Number(headers["retry-after"]);
  const retryAfterMs = Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined;
  return new Failure(codeOf(status), `HTTP ${status}: ${body}`, { retryAfterMs });
}

function codeOf(status: number): FailureCode {
  if (status === 401 || status === 403) return "provider_unauthorized";
  if ([408, 409, 429, 503, 529].includes(status)) return "provider_overloaded";
  return status >= 500 ? "provider_failed" : "provider_rejected";
}
