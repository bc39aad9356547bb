/**
 * Signatures of webhooks as in Standard Webhooks and the published API: an HMAC over the id, the time and the body,
 * with a secret that only both sides know.
 */

import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** The minimum of the standard. */
const LEAST_BYTES = 24;
const MOST_BYTES = 64;
const MADE_BYTES = 32;

/** Makes a new secret for both sides. */
export function makeWebhookSecret(): string {
  return PREFIX + randomBytes(MADE_BYTES).toString("base64");
}

/** The key in a secret; undefined if the text is not a secret. */
export function readWebhookSecret(text: string): Uint8Array | undefined {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : "";
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const key = Buffer.from(encoded, "base64");
  return key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined;
}

export interface SignedMessage {
  readonly id: string;
  readonly body: string;
  /** The time of sending: receivers refuse an event that is minutes old. */
  readonly atMs: number;
}

/** One signature for each key: while a secret is changed, both values are valid. */
export function signMessage(
  { id, body, atMs }: SignedMessage,
  keys: readonly Uint8Array[],
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = keys.map(
    (key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
