/**
 * Tells endpoints about background responses, as runs of the engine. The run for an endpoint is written down in the
 * transaction in which the response ends: so there is one for each ending and endpoint, whichever process writes the
 * ending and whenever it dies. It waits in the queue of its endpoint, where tenants take turns, and tries again at
 * growing intervals, until the endpoint has accepted the event or three days are over.
 *
 * An endpoint that does not answer keeps the few turns of its queue busy; its other events wait in the record, and no
 * other endpoint waits for it.
 */

import { matchesGlob } from "../../base/glob.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { storedObject, storedOrNull } from "../../base/stored.ts";
import { toQuietOutcome } from "../../engine/ending.ts";
import type { EndedRun, Engine, Following, RunBody, RunContext } from "../../engine/engine.ts";
import type { WebhookEvent } from "../../protocol/webhook-event.ts";
import { WEBHOOK_EVENTS } from "../../protocol/webhook-event.ts";
import { readResponse } from "../fold/read-response.ts";
import { toResponseId, toStatus } from "../fold/response-object.ts";
import type { WebhookEndpoint } from "./send-event.ts";
import {
  type DeliveryJob,
  type DeliveryParts,
  deliver,
  findEndpoint,
  toQueue,
} from "./try-delivery.ts";

export const WEBHOOK_BODY = "webhook";

/** Tries for one endpoint that are in progress, or wait for their next one, in all processes. */
export const AT_ONCE = 4;

export function defineDeliveries(engine: Engine, parts: DeliveryParts): void {
  for (const { name } of parts.endpoints) {
    engine.defineQueue(toQueue(name), { atOnce: AT_ONCE });
  }
  engine.define(WEBHOOK_BODY, createDeliveryBody(parts));
}

/** The runs that follow a background response: one for each endpoint that gets the event. */
export function followResponses(endpoints: readonly WebhookEndpoint[]): Following | undefined {
  if (endpoints.length === 0) return undefined;
  return (ended) => {
    if (ended.parent_id !== null || !isBackground(ended)) return [];
    const lane = ended.tenant ?? "";
    const heard = endpoints.filter(({ tenants }) => hears(tenants, lane));
    return heard.map(({ name }) => ({
      key: `webhook-${name}`,
      name: WEBHOOK_BODY,
      title: `Webhook ${name}`,
      input: { endpoint: name },
      queue: toQueue(name),
      lane,
    }));
  };
}

/** Called with every ending of a response, so it reads only this. */
function isBackground({ input }: EndedRun): boolean {
  const wish = isJsonObject(input) ? input["response"] : undefined;
  return isJsonObject(wish) && wish["background"] === true;
}

function hears(tenants: readonly string[] | undefined, tenant: string): boolean {
  return !tenants || tenants.some((glob) => matchesGlob(tenant, glob));
}

function createDeliveryBody(parts: DeliveryParts): RunBody {
  return async (context, input) => {
    const job: DeliveryJob = { name: readName(input), lane: context.tenant ?? "" };
    await context.waiting(undefined, () => context.turn(toQueue(job.name), job.lane));
    const event = await readEvent(context);
    const endpoint = findEndpoint(parts, job.name);
    if (event && endpoint.events.includes(event.type)) await deliver(parts, context, job, event);
    return toQuietOutcome(parts.clock.now());
  };
}

function readName(input: Json): string {
  const name = isJsonObject(input) ? input["endpoint"] : undefined;
  return typeof name === "string" ? name : "";
}

async function readEvent(context: RunContext): Promise<WebhookEvent | null> {
  const { runs, parent_id } = context;
  const read = await context.step("event", async () => {
    const event = await readWebhookEvent(runs, parent_id ?? "");
    return STORED_EVENT.write(event ?? null);
  });
  return STORED_EVENT.read(read);
}

const STORED_EVENT = storedOrNull(storedObject<WebhookEvent>("an event", ["type"]));

/**
 * Reads the contents of a webhook from the run of a response.
 *
 * Undefined if the response is gone.
 */
async function readWebhookEvent(
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

/**
 * The last event says it, except for a refusal, which is an answer if the model has said nothing else.
 */
async function readStatus(
  engine: Pick<Engine, "record" | "result">,
  runId: string,
): Promise<string | undefined> {
  const { ending, events } = await engine.result(runId);
  const end = events.find((event) => event.type === "run_end");
  if (end && ending !== "refused") return toStatus(end, []).status;
  return (await readResponse(engine, runId, {}))?.status;
}
