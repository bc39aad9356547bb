/**
 * Signatures of webhooks, as Standard Webhooks has them and the published API with it: an HMAC over the id, the time
 * and the body, under a secret that only the two sides know.
 */

import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** What the standard asks for. */
const [LEAST_BYTES, MOST_BYTES] = [24, 64];
const MADE_BYTES = 32;

/** A new one, as it is given to both sides. */
export function makeWebhookSecret(): string {
  return PREFIX + randomBytes(MADE_BYTES).toString("base64");
}

/** The key inside of a secret; undefined for a text that is none. */
export function readWebhookSecret(text: string): Uint8Array | undefined {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : "";
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const key = Buffer.from(encoded, "base64");
  return key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined;
}

export interface SignedMessage {
  readonly id: string;
  readonly body: string;
  /** When it is sent: receivers refuse what is minutes old. */
  readonly atMs: number;
}

/** One signature for each key: while a secret is changed, both of its values are good. */
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
