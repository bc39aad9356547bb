/** Tries to deliver one event to its endpoint, and waits between the tries. */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { storedObject } from "../../base/stored.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Notice } from "../../protocol/run-events.ts";
import type { WebhookEvent } from "../../protocol/webhook-event.ts";
import type { SendEvent, SentEvent, WebhookEndpoint } from "./send-event.ts";

export interface DeliveryParts {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly send: SendEvent;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
}

/**
 * One queue for each endpoint: runs for endpoints that the settings no longer name are not taken.
 */
export function toQueue(endpoint: string): string {
  return `webhook:${endpoint}`;
}

export interface DeliveryJob {
  readonly name: string;
  readonly lane: string;
}

/** Looked up for each try: an address or a secret may have changed since the last one. */
export function findEndpoint({ endpoints }: DeliveryParts, name: string): WebhookEndpoint {
  const endpoint = endpoints.find((one) => one.name === name);
  if (endpoint) return endpoint;
  const message = `\`server.webhooks\` does not name \`${name}\` any more, so it was not sent the event.`;
  throw new Failure("not_found", message);
}

/** How a try ended, as it stands in the journal. */
interface Tried {
  readonly is_over: boolean;
  readonly next_at_ms: number;
  readonly reason: string;
}

const STORED_TRY = storedObject<Tried>("a try", ["is_over", "reason"]);

export async function deliver(
  parts: DeliveryParts,
  context: RunContext,
  job: DeliveryJob,
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
  readonly job: DeliveryJob;
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
  readonly job: DeliveryJob;
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
