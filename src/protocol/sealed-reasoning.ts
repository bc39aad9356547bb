/**
 * What a vendor needs back to go on thinking, carried in a reasoning item's `encrypted_content`.
 *
 * OpenAI's own is left as it is. Any other vendor's (a signature, a redacted block) is put in an
 * envelope with that vendor's name, so that a conversation can move to another one, which then
 * knows the envelope as not its own and leaves it out.
 */

import { type Json, tryParseJson } from "../base/json.ts";

const ENVELOPE = /^sealed\.([a-z-]+)\.([A-Za-z0-9+/=_-]*)$/;

/** `vendor` is the wire whose words `payload` is in: `messages`, `gemini`. */
export function seal(vendor: string, payload: Json): string {
  const bytes = Buffer.from(JSON.stringify(payload));
  return `sealed.${vendor}.${bytes.toString("base64url")}`;
}

/** The payload, if this vendor sealed it. */
export function unseal(vendor: string, sealed: string | null | undefined): Json | undefined {
  const [, sealer, text = ""] = ENVELOPE.exec(sealed ?? "") ?? [];
  if (sealer !== vendor) return undefined;
  return tryParseJson(Buffer.from(text, "base64url").toString("utf8"));
}

/** Whether some vendor put this in an envelope: then it is nothing for a server of the Responses API. */
export function isSealed(text: string | null | undefined): boolean {
  return ENVELOPE.test(text ?? "");
}
