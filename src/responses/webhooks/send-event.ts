/**
 * Sends an event to an endpoint once, over the guarded client of the web tools: to public addresses, or to hosts that
 * the operator allows by name, and without redirects, which would send the event elsewhere.
 */

import type { Clock } from "../../base/clock.ts";
import { toFailure } from "../../base/failure.ts";
import type { WebhookEvent, WebhookEventType } from "../../protocol/webhook-event.ts";
import { toRetryAfterMs } from "../../tools/web/network/retry-after.ts";
import type { WebClient } from "../../tools/web/network/web-client.ts";
import type { WebMediaSettings } from "../media/web-media.ts";
import { signMessage } from "./webhook-secret.ts";

/** A receiver of events about background responses. The operator names it. */
export interface WebhookEndpoint {
  readonly name: string;
  readonly url: string;
  /** The keys of its secrets: one, or two while it is changed. */
  readonly keys: readonly Uint8Array[];
  readonly events: readonly WebhookEventType[];
  /** The tenants whose responses it gets events for, as globs; all when left out. */
  readonly tenants?: readonly string[] | undefined;
}

/** The result of a try. */
export interface SentEvent {
  readonly isTaken: boolean;
  /** For a person: why it was not accepted. */
  readonly reason: string;
  /** True if the endpoint wants no further events. */
  readonly isGone?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** Rejects only if `signal` aborts. */
export type SendEvent = (
  endpoint: WebhookEndpoint,
  event: WebhookEvent,
  signal: AbortSignal,
) => Promise<SentEvent>;

/**
 * Receivers should note the event and answer at once; longer work should come after their answer.
 */
const ANSWER_MS = 15_000;
/** The text of the answer is not used. */
const MOST_ANSWER_BYTES = 64 * 1024;

export function createSender(settings: WebMediaSettings, clock: Clock): SendEvent {
  let client: Promise<WebClient> | undefined;
  return async ({ url, keys }, event, signal) => {
    const body = JSON.stringify(event);
    const signed = signMessage({ id: event.id, body, atMs: clock.now() }, keys);
    try {
      client ??= openClient(settings, clock);
      const { status, headers } = await (await client).request({
        url,
        method: "POST",
        body,
        signal,
        allowsHost: () => true,
        headers: { "content-type": "application/json", ...signed },
      });
      const isTaken = status >= 200 && status < 300;
      const reason = isTaken ? "" : `it answered with status ${status}`;
      const retryAfterMs = toRetryAfterMs(headers["retry-after"]);
      return { isTaken, reason, isGone: status === 410, retryAfterMs };
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return { isTaken: false, reason: toFailure(thrown).message };
    }
  };
}

/** Loaded for the first event. */
async function openClient(settings: WebMediaSettings, clock: Clock): Promise<WebClient> {
  const { createWebClient } = await import("../../tools/web/network/web-client.ts");
  const { resolveHost } = await import("../../tools/web/network/resolve-host.ts");
  const { privateHosts = [], userAgent = "offshoot", resolve = resolveHost, dial, ca } = settings;
  return createWebClient({
    clock,
    resolve,
    dial,
    ca,
    privateHosts,
    userAgent,
    respectRobots: false,
    limits: {
      wireBytes: MOST_ANSWER_BYTES,
      plainBytes: MOST_ANSWER_BYTES,
      totalMs: ANSWER_MS,
      redirects: 0,
      perMinute: Number.POSITIVE_INFINITY,
    },
  });
}
