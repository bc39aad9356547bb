/** The keys of a server: made, listed, revoked. They are things of the tenant with no name. */

import { createHash, randomBytes } from "node:crypto";
import { type Limits, NO_LIMITS } from "../../agent/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Shelf, ThingName } from "../../store/shelf.ts";
import type { Scope } from "../route.ts";
import { decodeKey, encodeKey, type Key, type KeyLimits, USUAL_SCOPES } from "./key.ts";

export interface KeyParts {
  readonly shelf: Shelf;
  readonly clock: Clock;
}

export interface KeyWish {
  readonly name: string;
  readonly tenant?: string | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly catalogue?: readonly string[] | undefined;
  readonly limits?: KeyLimits | undefined;
  readonly responseLimits?: Partial<Limits> | undefined;
  readonly expiresAtMs?: number | undefined;
}

export interface NewKey {
  readonly key: Key;
  /** `osk_ID_SECRET`: what clients send. It is nowhere else, so it is shown now or never. */
  readonly token: string;
}

/** Whose things a key sees where nobody says. */
export const DEFAULT_TENANT = "default";

export async function createKey({ shelf, clock }: KeyParts, wish: KeyWish): Promise<NewKey> {
  const { name, tenant = DEFAULT_TENANT, models = null, catalogue = null } = wish;
  checkName("name", name);
  checkName("tenant", tenant);
  const id = toLetters(randomBytes(ID_CHARS));
  const token = `osk_${id}_${randomBytes(SECRET_BYTES).toString("hex")}`;
  const now = clock.now();
  const key: Key = {
    ...{ id, name, tenant, models, catalogue },
    hash: hashToken(token).toString("hex"),
    scopes: wish.scopes ?? USUAL_SCOPES,
    limits: wish.limits ?? {},
    response_limits: { ...NO_LIMITS, ...wish.responseLimits },
    created_at_ms: now,
    expires_at_ms: wish.expiresAtMs ?? null,
    revoked_at_ms: null,
    last_used_ms: null,
  };
  // Its own expiry is not the thing's: a key that is over is still shown, and refused by its name.
  const kept = { parent: null, created_at_ms: now, expires_at_ms: null };
  await shelf.put({ ...toThingName(id), ...kept, body: encodeKey(key) });
  return { key, token };
}

/** The oldest first. */
export async function listKeys(shelf: Shelf): Promise<Key[]> {
  const { tenant, kind } = toThingName("");
  const things = await shelf.list({ tenant, kind, order: "oldest", limit: MAX_LISTED });
  return things.map(({ body }) => decodeKey(body));
}

export async function hasKeys(shelf: Shelf): Promise<boolean> {
  const { tenant, kind } = toThingName("");
  return (await shelf.list({ tenant, kind, order: "oldest", limit: 1 })).length > 0;
}

export async function findKey(shelf: Shelf, id: string): Promise<Key | undefined> {
  const thing = await shelf.get(toThingName(id));
  return thing && decodeKey(thing.body);
}

/** For good; other processes hear of it within seconds. One that is revoked stays as it was. */
export async function revokeKey({ shelf, clock }: KeyParts, id: string): Promise<Key> {
  const now = clock.now();
  const body = await shelf.change(toThingName(id), (kept) =>
    encodeKey({ ...decodeKey(kept), revoked_at_ms: decodeKey(kept).revoked_at_ms ?? now }),
  );
  if (body !== undefined) return decodeKey(body);
  const message = `There is no key \`${clip(id, 40)}\`; \`offshoot keys list\` has them.`;
  throw new Failure("not_found", message);
}

export async function noteUse(shelf: Shelf, id: string, atMs: number): Promise<void> {
  await shelf.change(toThingName(id), (kept) =>
    encodeKey({ ...decodeKey(kept), last_used_ms: atMs }),
  );
}

/** The id in a token that looks like one of ours. */
export function readKeyId(token: string): string | undefined {
  return /^osk_([a-z0-9]{12})_[0-9a-f]{64}$/.exec(token)?.[1];
}

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

const ID_CHARS = 12;
const SECRET_BYTES = 32;
/** More than a server has; a list is for people. */
const MAX_LISTED = 10_000;

function toThingName(id: string): ThingName {
  return { tenant: "", kind: "key", id };
}

/** 32 letters and digits, none of which is taken for another. */
const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";

function toLetters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => LETTERS[byte & 31]).join("");
}

function checkName(what: string, text: string): void {
  if (/^[\w.@-]{1,64}$/.test(text)) return;
  const wanted = "1 to 64 letters, digits, `.`, `_`, `@` or `-`";
  throw new Failure(
    "invalid_request",
    `The ${what} of a key is ${wanted}, not \`${clip(text, 40)}\`.`,
  );
}
