/** Turns the setting `server.webhooks` into endpoints, with the secrets that it names. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { type KeyEnvironment, keyIn } from "../../base/stored-keys.ts";
import { WEBHOOK_EVENTS, type WebhookEventType } from "../../protocol/webhook-event.ts";
import type { WebhookEndpoint } from "../../responses/webhooks/send-event.ts";
import { readWebhookSecret } from "../../responses/webhooks/webhook-secret.ts";

interface WebhookSurroundings {
  readonly env: KeyEnvironment;
  /** `web_private_hosts`. */
  readonly privateHosts: readonly string[];
}

/**
 * Makes the endpoints of a map that `checkWebhooks` has accepted. Rejects if a secret is missing.
 */
export function toWebhookEndpoints(
  rows: JsonObject | undefined,
  around: WebhookSurroundings,
): WebhookEndpoint[] {
  return Object.entries(rows ?? {}).map(([name, row]) => {
    const { url, secret_name, events, tenants } = row as unknown as WebhookRow;
    checkScheme(name, url, around.privateHosts);
    return {
      name,
      url,
      events: events ?? WEBHOOK_EVENTS,
      tenants,
      keys: [secret_name].flat().map((variable) => readKey(name, variable, around.env)),
    };
  });
}

interface WebhookRow {
  readonly url: string;
  readonly secret_name: string | readonly string[];
  readonly events?: readonly WebhookEventType[];
  readonly tenants?: readonly string[];
}

/** An event says little, but it does say which responses exist, and when. */
function checkScheme(name: string, url: string, privateHosts: readonly string[]): void {
  const { protocol, host, hostname } = new URL(url);
  if (protocol === "https:" || [host, hostname].some((one) => privateHosts.includes(one))) return;
  throw wrong(
    `\`server.webhooks\`: \`${name}\` has an http address. Use https, or name \`${host}\` in \`web_private_hosts\` if it is in your own network.`,
  );
}

function readKey(name: string, variable: string, env: KeyEnvironment): Uint8Array {
  const text = keyIn(env, variable);
  const key = text === undefined ? undefined : readWebhookSecret(text);
  if (key) return key;
  const what = text === undefined ? "is not set" : "holds no webhook secret (`whsec_…`)";
  throw wrong(
    `\`server.webhooks\`: \`${name}\`: the variable ${variable} ${what}. \`offshoot webhooks secret\` makes one.`,
  );
}

function wrong(message: string): Failure {
  return new Failure("invalid_request", message, { param: "server.webhooks" });
}
