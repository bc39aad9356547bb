/** What a webhook is told of a response, read from its run. */

import type { Engine } from "../../engine/engine.ts";
import { WEBHOOK_EVENTS, type WebhookEvent } from "../../protocol/webhook-event.ts";
import { readResponse } from "../fold/read-response.ts";
import { toResponseId, toStatus } from "../fold/response-object.ts";

/** Undefined where the response is gone. */
export async function readWebhookEvent(
  engine: Pick<Engine, "record" | "status" | "result">,
  runId: string,
): Promise<WebhookEvent | undefined> {
  const run = await engine.status(runId);
  if (run?.status !== "ended") return undefined;
  const status = await readStatus(engine, runId);
  const type = WEBHOOK_EVENTS.find((event) => event === `response.${status}`);
  if (!type) return undefined;
  const id = toResponseId(runId);
  return {
    id: id.replace(/^resp_/, "evt_"),
    object: "event",
    created_at: Math.floor((run.ended_at_ms ?? run.created_at_ms) / 1000),
    type,
    data: { id },
  };
}

/** The last event says it, except of a refusal, which is an answer where the model has said nothing else. */
async function readStatus(
  engine: Pick<Engine, "record" | "result">,
  runId: string,
): Promise<string | undefined> {
  const { ending, events } = await engine.result(runId);
  const end = events.find((event) => event.type === "run_end");
  if (end && ending !== "refused") return toStatus(end, []).status;
  return (await readResponse(engine, runId, {}))?.status;
}
