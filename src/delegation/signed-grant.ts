/**
 * A child's limits on their way to another process: signed by the parent's, checked by the child's. What a child may
 * do is not secret; but only a holder of this user's key on this machine can say it.
 *
 * The signature covers what limits the child and where its money and keys go, not what it is asked: under one grant a
 * program may ask different things.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";

/** The fields of a payload that must not be changed on the way, whether they are there or not. */
export const SIGNED_FIELDS = [
  "grant",
  "expires_at_ms",
  "limits",
  "ceiling",
  "max_turns",
  "timeout_ms",
  "depth",
  "approve",
  "sandbox",
  "root",
  "tool_subset",
  "safety",
  "asks",
  "delegation",
  "model",
  "provider",
  "url",
  "api_key_name",
  "options",
  "run",
  "store_path",
] as const;

/** Hexadecimal, over the signed fields in one spelling. */
export function signGrant(payload: JsonObject, key: Uint8Array): string {
  return createHmac("sha256", key).update(toSignedText(payload)).digest("hex");
}

/**
 * Throws `Failure("invalid_request")` when the payload names a grant that was not signed with this key, that was
 * changed since, or that has expired.
 */
export function verifyGrant(
  payload: JsonObject,
  { key, nowMs }: { readonly key: Uint8Array; readonly nowMs: number },
): void {
  const { signature, expires_at_ms } = payload;
  if (typeof signature !== "string" || signature === "") {
    throw refuse("The grant has no signature.");
  }
  const expected = Buffer.from(signGrant(payload, key), "hex");
  const given = Buffer.from(signature, "hex");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw refuse("The grant's signature does not fit: it was changed, or signed with another key.");
  }
  if (typeof expires_at_ms !== "number" || expires_at_ms <= nowMs) {
    throw refuse("The grant has expired.");
  }
}

function toSignedText(payload: JsonObject): string {
  // Begins with the name of the format, so that a signature of another kind of text never matches.
  return `offshoot-grant-1\n${toCanonical(SIGNED_FIELDS.map((name) => payload[name] ?? null))}`;
}

/** One spelling for equal values: names in order, no spaces, and undefined fields left out. */
export function toCanonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, inner]) =>
      inner === undefined ? [] : [`${JSON.stringify(name)}:${toCanonical(inner)}`],
    );
  return `{${fields.join(",")}}`;
}

function refuse(why: string): Failure {
  return new Failure("invalid_request", `${why} Nothing was started.`, { param: "signature" });
}
