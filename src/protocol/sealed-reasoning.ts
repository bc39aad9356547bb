/**
 * Reasoning that a vendor needs back to continue, carried in a reasoning item's `encrypted_content`.
 *
 * OpenAI's own is left as it is. That of any other vendor (a signature, a redacted block) is put in an
 * envelope with the vendor's name. A conversation can then move to another vendor, which sees that the
 * envelope is not its own and leaves it out.
 */

import { type Json, tryParseJson } from "../base/json.ts";

const ENVELOPE = /^sealed\.([a-z-]+)\.([A-Za-z0-9+/=_-]*)$/;

/** Puts a payload in an envelope. `vendor` is the wire that wrote it: `messages`, `gemini`. */
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

/** True if a vendor put this in an envelope: a server of the Responses API cannot use it then. */
export function isSealed(text: string | null | undefined): boolean {
  return ENVELOPE.test(text ?? "");
}
