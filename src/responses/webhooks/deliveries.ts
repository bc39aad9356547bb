/**
 * Tells endpoints about background responses, as runs of the engine. The run for an endpoint is written down in the
 * transaction in which the response ends: so there is one for each ending and endpoint, whichever process writes the
 * ending and whenever it dies. It waits in the queue of its endpoint, where tenants take turns, and tries again at
 * growing intervals, until the endpoint has accepted the event or three days are over.
 *
 * An endpoint that does not answer keeps the few turns of its queue busy; its other events wait in the record, and no
 * other endpoint waits for it.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { storedObject, storedOrNull } from "../../base/stored.ts";
import { toQuietOutcome } from "../../engine/ending.ts";
import type { EndedRun, Engine, Following, RunBody, RunContext } from "../../engine/engine.ts";
import type { Notice } from "../../protocol/run-events.ts";
import type { WebhookEvent } from "../../protocol/webhook-event.ts";
import { WEBHOOK_EVENTS } from "../../protocol/webhook-event.ts";
import { readResponse } from "../fold/read-response.ts";
import { toResponseId, toStatus } from "../fold/response-object.ts";
import type { SendEvent, SentEvent, WebhookEndpoint } from "./send-event.ts";

export const WEBHOOK_BODY = "webhook";

export interface DeliveryParts {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly send: SendEvent;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
}

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

/**
 * One queue for each endpoint: runs for endpoints that the settings no longer name are not taken.
 */
export function toQueue(endpoint: string): string {
  return `webhook:${endpoint}`;
}

function createDeliveryBody(parts: DeliveryParts): RunBody {
  return async (context, input) => {
    const job: Job = { name: readName(input), lane: context.tenant ?? "" };
    await context.waiting(undefined, () => context.turn(toQueue(job.name), job.lane));
    const event = await readEvent(context);
    const endpoint = findEndpoint(parts, job.name);
    if (event && endpoint.events.includes(event.type)) await deliver(parts, context, job, event);
    return toQuietOutcome(parts.clock.now());
  };
}

interface Job {
  readonly name: string;
  readonly lane: string;
}

function readName(input: Json): string {
  const name = isJsonObject(input) ? input["endpoint"] : undefined;
  return typeof name === "string" ? name : "";
}

/** Looked up for each try: an address or a secret may have changed since the last one. */
function findEndpoint({ endpoints }: DeliveryParts, name: string): WebhookEndpoint {
  const endpoint = endpoints.find((one) => one.name === name);
  if (endpoint) return endpoint;
  const message = `\`server.webhooks\` does not name \`${name}\` any more, so it was not sent the event.`;
  throw new Failure("not_found", message);
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

/** How a try ended, as it stands in the journal. */
interface Tried {
  readonly is_over: boolean;
  readonly next_at_ms: number;
  readonly reason: string;
}

const STORED_TRY = storedObject<Tried>("a try", ["is_over", "reason"]);

async function deliver(
  parts: DeliveryParts,
  context: RunContext,
  job: Job,
  event: WebhookEvent,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await context.rest();
    const tried = await tryOnce(parts, context, { job, event, attempt });
    if (tried.is_over && tried.reason === "") return;
    if (tried.is_over) {
      const message = `Webhook \`${job.name}\` did not take the event in ${attempt} tries: ${tried.reason}.`;
      throw new Failure("connector_failed", message);
    }
    await waitUntil(parts, context, { job, attempt, atMs: tried.next_at_ms });
  }
}

interface Try {
  readonly job: Job;
  readonly event: WebhookEvent;
  readonly attempt: number;
}

async function tryOnce(
  parts: DeliveryParts,
  context: RunContext,
  { job: { name }, event, attempt }: Try,
): Promise<Tried> {
  const done = await context.step(`try:${attempt}`, async (step) => {
    const endpoint = findEndpoint(parts, name);
    // A process that was thought dead must not send what another one sends now.
    await step.confirm();
    const tried = toTried(parts, await parts.send(endpoint, event, step.signal), {
      event,
      attempt,
    });
    if (!tried.is_over) step.end([toNotice(name, attempt, tried, parts.clock)]);
    return STORED_TRY.write(tried);
  });
  return STORED_TRY.read(done);
}

/**
 * The first wait, which doubles, and the longest; and the time after which it gives up, as in the published API.
 */
const FIRST_MS = 5000;
const LONGEST_MS = 3_600_000;
const GIVEN_UP_MS = 72 * 3_600_000;

function toTried(
  { clock, random }: DeliveryParts,
  { isTaken, isGone, reason, retryAfterMs = 0 }: SentEvent,
  { event, attempt }: Pick<Try, "event" | "attempt">,
): Tried {
  const usualMs = Math.min(FIRST_MS * 2 ** (attempt - 1), LONGEST_MS);
  // Half of it to all of it, so that many failed tries are not repeated at the same moment.
  const waitMs = Math.max(usualMs * (0.5 + random() / 2), Math.min(retryAfterMs, LONGEST_MS));
  const next_at_ms = clock.now() + waitMs;
  const isLate = next_at_ms > event.created_at * 1000 + GIVEN_UP_MS;
  return { is_over: isTaken || isGone === true || isLate, next_at_ms, reason };
}

function toNotice(name: string, attempt: number, tried: Tried, clock: Clock): Notice {
  const seconds = Math.max(1, Math.round((tried.next_at_ms - clock.now()) / 1000));
  const message = `Webhook \`${name}\`, try ${attempt}: ${tried.reason}. The next one is in ${seconds} s.`;
  return { type: "notice", code: "retry", message };
}

interface Wait {
  readonly job: Job;
  readonly attempt: number;
  readonly atMs: number;
}

/**
 * Waits until the next try; or, if this process has stopped taking runs, until another process continues it.
 */
async function waitUntil(
  { clock }: DeliveryParts,
  context: RunContext,
  { job, attempt, atMs }: Wait,
): Promise<void> {
  const sleep = async ({ signal }: { readonly signal: AbortSignal }): Promise<null> => {
    const waitMs = Math.max(0, atMs - clock.now());
    await clock.sleep(waitMs, AbortSignal.any([signal, context.retired]));
    return null;
  };
  try {
    await context.waiting(undefined, () => context.step(`wait:${attempt}`, sleep));
  } catch (thrown) {
    if (context.signal.aborted || !context.retired.aborted) throw thrown;
    await context.giveTurnBack();
    await context.turn(toQueue(job.name), job.lane);
    throw thrown;
  }
}

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
