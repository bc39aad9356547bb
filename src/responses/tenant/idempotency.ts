/**
 * `Idempotency-Key`: a request that is sent again with its key gets the result of the first one. The key is a thing
 * of the tenant, stored in one transaction with the result, and deleted with it.
 *
 * The result is not stored a second time: a repeated request for a response follows it from its record, like every
 * other client. So it is there after a restart and in every process.
 */

import { createHmac } from "node:crypto";
import { Failure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import { isLarge, writeInSlices } from "../../base/json-pieces.ts";
import { clip } from "../../base/text.ts";
import type { Claim, NewThing, Shelf, Thing, ThingHead } from "../../store/shelf.ts";

/** A request with a key that says it is the same as another one. */
export interface Once {
  readonly key: string;
  /** For example `POST /v1/responses`. */
  readonly route: string;
  /** As it was sent. */
  readonly body: unknown;
}

/** A key of a tenant, and the request that it stands for. */
export interface OnceKey {
  readonly tenant: string;
  readonly key: string;
  /** A hash that differs between requests and reveals nothing of them. */
  readonly fingerprint: string;
}

const ONCE_KIND = "idempotency_key";
/** How long a key stands for its request. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const MAX_KEY_CHARS = 255;

/** Undefined if the request has no key. Rejects one that is empty or too long. */
export function readOnce(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  route: string,
  body: unknown,
): Once | undefined {
  const header = headers["idempotency-key"];
  if (header === undefined) return undefined;
  const key = [header].flat().join(",").trim();
  if (key !== "" && key.length <= MAX_KEY_CHARS) return { key, route, body };
  const message = `\`Idempotency-Key\` must have 1 to ${MAX_KEY_CHARS} characters, not ${key.length}.`;
  throw new Failure("invalid_request", message, { param: "Idempotency-Key" });
}

/** `sealKey` is the server's own: without it, the request cannot be guessed from what is stored. */
export async function toOnceKey(
  { key, route, body }: Once,
  tenant: string,
  sealKey: Uint8Array,
): Promise<OnceKey> {
  const mac = createHmac("sha256", sealKey).update(`${route}\n`);
  if (isLarge(body)) for await (const piece of writeInSlices(body, tenant)) mac.update(piece);
  else mac.update(JSON.stringify(body) ?? "");
  return { tenant, key, fingerprint: mac.digest("hex") };
}

/**
 * The id that the key has made; undefined if it has made nothing, or has expired. Rejects with
 * `idempotency_key_reused` if it stands for another request.
 */
export async function findMade(
  shelf: Shelf,
  once: OnceKey,
  nowMs: number,
): Promise<string | undefined> {
  const { tenant, key } = once;
  const held = await shelf.get({ tenant, kind: ONCE_KIND, id: key });
  return held && !isExpired(held, nowMs) ? readMade(held, once) : undefined;
}

/** The id that a tenant's key has made, for any request; undefined if there is none. */
export async function findMadeBy(
  shelf: Shelf,
  tenant: string,
  key: string,
): Promise<string | undefined> {
  const held = await shelf.get({ tenant, kind: ONCE_KIND, id: key });
  const made = isJsonObject(held?.body) ? held.body["made"] : undefined;
  return typeof made === "string" ? made : undefined;
}

interface Making {
  /** The id of the new thing. */
  readonly made: string;
  readonly things: readonly NewThing[];
  /** An earlier thing of the key that has failed, and that the new one replaces. */
  readonly inPlaceOf?: string | undefined;
}

/**
 * Stores new things together with their key. Returns false, and stores nothing, if the key has made something
 * already.
 */
export async function claimMade(
  shelf: Shelf,
  once: OnceKey,
  { made, things, inPlaceOf }: Making,
  nowMs: number,
): Promise<boolean> {
  const claim: Claim = {
    claim: {
      tenant: once.tenant,
      kind: ONCE_KIND,
      id: once.key,
      parent: made,
      body: { fingerprint: once.fingerprint, made },
      created_at_ms: nowMs,
      expires_at_ms: nowMs + KEPT_MS,
    },
    things,
    isOver: (held) =>
      isExpired(held, nowMs) || (inPlaceOf !== undefined && held.parent === inPlaceOf),
  };
  return (await shelf.claim(claim)) === undefined;
}

interface Kept {
  /** The id of the new thing. */
  readonly made: string;
  /** Removes it again. */
  readonly undo: () => Promise<unknown>;
}

/**
 * Returns the id that counts for a key: that of the new thing, or of an earlier one, and then `undo` has removed the
 * new one. For things that are made in several steps: if the process dies between them, the key stands for nothing.
 * Rejects as `findMade` does.
 */
export async function keepFirst(
  shelf: Shelf,
  once: OnceKey,
  { made, undo }: Kept,
  nowMs: number,
): Promise<string> {
  let known: string | undefined;
  try {
    while (known === undefined) {
      if (await claimMade(shelf, once, { made, things: [] }, nowMs)) return made;
      known = await findMade(shelf, once, nowMs);
    }
  } catch (thrown) {
    await undo();
    throw thrown;
  }
  await undo();
  return known;
}

function isExpired({ expires_at_ms }: ThingHead, nowMs: number): boolean {
  return expires_at_ms !== null && expires_at_ms <= nowMs;
}

function readMade({ body }: Thing, { key, fingerprint }: OnceKey): string {
  const { fingerprint: known, made } = isJsonObject(body) ? body : {};
  if (known === fingerprint) return String(made);
  const message = `The \`Idempotency-Key\` \`${clip(key, 80)}\` was sent before with another request. Send the same request, or another key.`;
  throw new Failure("idempotency_key_reused", message, { param: "Idempotency-Key" });
}
