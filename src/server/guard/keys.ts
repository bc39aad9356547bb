/** The keys of a server: made, listed, changed, revoked. They are things of the tenant with no name. */

import { createHash, randomBytes } from "node:crypto";
import { type Limits, NO_LIMITS } from "../../agent/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { Shelf, ThingName } from "../../store/shelf.ts";
import type { Scope } from "../route.ts";
import {
  decodeKey,
  encodeKey,
  type Key,
  type KeyLimit,
  type KeyLimits,
  stateOf,
  USUAL_SCOPES,
} from "./key.ts";

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
  readonly options?: readonly string[] | undefined;
  readonly limits?: KeyLimits | undefined;
  readonly responseLimits?: Partial<Limits> | undefined;
  readonly expiresAtMs?: number | undefined;
  /** For the console: see `Key.session`. */
  readonly isSession?: boolean | undefined;
}

export interface NewKey {
  readonly key: Key;
  /** `osk_ID_SECRET`: what clients send. It is nowhere else, so it is shown now or never. */
  readonly token: string;
}

export async function createKey({ shelf, clock }: KeyParts, wish: KeyWish): Promise<NewKey> {
  const { name, tenant = DEFAULT_TENANT, models = null, catalogue = null, options = null } = wish;
  checkName("name", name);
  checkName("tenant", tenant);
  const id = toLetters(randomBytes(ID_CHARS));
  const token = makeToken(id);
  const now = clock.now();
  const key: Key = {
    ...{ id, name, tenant, models, catalogue, options },
    hash: hashToken(token).toString("hex"),
    ...(wish.isSession ? { session: true } : {}),
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

/** Sessions of the console do not count: whoever has none but those cannot ask the server anything. */
export async function hasKeys(shelf: Shelf): Promise<boolean> {
  return (await listKeys(shelf)).some(({ session }) => !session);
}

export async function findKey(shelf: Shelf, id: string): Promise<Key | undefined> {
  const thing = await shelf.get(toThingName(id));
  return thing && decodeKey(thing.body);
}

/**
 * A key by its id, or by its name where one key has it; of several with one name the one that is not
 * revoked. Rejects with `not_found`, or `invalid_request` where the name says too little.
 */
export async function findNamedKey(shelf: Shelf, nameOrId: string): Promise<Key> {
  const exact = await findKey(shelf, nameOrId);
  if (exact) return exact;
  const named = (await listKeys(shelf)).filter(({ name }) => name === nameOrId);
  const usable = named.filter(({ revoked_at_ms }) => revoked_at_ms === null);
  const [key, second] = usable.length > 0 ? usable : named;
  if (!key) throw toUnknownKey(nameOrId);
  if (!second) return key;
  const ids = (usable.length > 0 ? usable : named).map(({ id }) => id).join(", ");
  const message = `Several keys are named \`${clip(nameOrId, 40)}\`. Use the id of one: ${ids}.`;
  throw new Failure("invalid_request", message);
}

/** For good; other processes hear of it within seconds. One that is revoked stays as it was. */
export async function revokeKey({ shelf, clock }: KeyParts, id: string): Promise<Key> {
  const now = clock.now();
  return await changeKey(shelf, id, (key) => {
    return { ...key, revoked_at_ms: key.revoked_at_ms ?? now };
  });
}

/** What is to be different; what is left out stays, and null takes a limit or a restriction away. */
export interface KeyChange {
  readonly scopes?: readonly Scope[] | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly catalogue?: readonly string[] | null | undefined;
  readonly options?: readonly string[] | null | undefined;
  readonly limits?: { readonly [Name in KeyLimit]?: number | null | undefined } | undefined;
  readonly responseLimits?: Partial<Limits> | undefined;
  readonly expiresAtMs?: number | null | undefined;
}

/** Other processes hear of it within seconds. Rejects with `conflict` for a key that is revoked. */
export async function updateKey({ shelf }: KeyParts, id: string, change: KeyChange): Promise<Key> {
  return await changeKey(shelf, id, (key) => {
    checkNotRevoked(key);
    const { scopes, models, catalogue, options, expiresAtMs } = change;
    return {
      ...key,
      scopes: scopes ?? key.scopes,
      models: models === undefined ? key.models : models,
      catalogue: catalogue === undefined ? key.catalogue : catalogue,
      options: options === undefined ? key.options : options,
      limits: withLimits(key.limits, change.limits ?? {}),
      response_limits: { ...key.response_limits, ...change.responseLimits },
      expires_at_ms: expiresAtMs === undefined ? key.expires_at_ms : expiresAtMs,
    };
  });
}

/** A limit that is taken away must not stand there as a name without a number. */
function withLimits(limits: KeyLimits, change: KeyChange["limits"]): KeyLimits {
  const all = Object.entries({ ...limits, ...change });
  return Object.fromEntries(all.filter(([, limit]) => limit !== null && limit !== undefined));
}

/**
 * A new secret under the same id, with all that the key has used. The one before it works for
 * `keepOldMs` more; what an earlier rotation left working ends now.
 */
export async function rotateKey(
  { shelf, clock }: KeyParts,
  id: string,
  { keepOldMs }: { readonly keepOldMs: number },
): Promise<NewKey> {
  const token = makeToken(id);
  const now = clock.now();
  const key = await changeKey(shelf, id, (before) => {
    checkNotRevoked(before);
    checkNotExpired(before, now);
    const replaced = { hash: before.hash, replaced_at_ms: now, until_ms: now + keepOldMs };
    return { ...before, hash: hashToken(token).toString("hex"), replaced };
  });
  return { key, token };
}

/** Its new secret would not work either. */
function checkNotExpired(key: Key, nowMs: number): void {
  if (stateOf(key, nowMs) !== "expired") return;
  const hint = `Give it more time first: offshoot keys update ${key.id} --expires 30d.`;
  throw new Failure("conflict", `The key \`${key.id}\` is expired. ${hint}`);
}

function checkNotRevoked({ id, revoked_at_ms }: Key): void {
  if (revoked_at_ms === null) return;
  const message = `The key \`${id}\` is revoked, which is for good. Make another one: offshoot keys create NAME.`;
  throw new Failure("conflict", message);
}

async function changeKey(shelf: Shelf, id: string, change: (key: Key) => Key): Promise<Key> {
  const body = await shelf.change(toThingName(id), (kept) => encodeKey(change(decodeKey(kept))));
  if (body !== undefined) return decodeKey(body);
  throw toUnknownKey(id);
}

function toUnknownKey(nameOrId: string): Failure {
  const message = `There is no key \`${clip(nameOrId, 40)}\`; \`offshoot keys list\` has them.`;
  return new Failure("not_found", message);
}

export async function noteUse(shelf: Shelf, id: string, atMs: number): Promise<void> {
  await shelf.change(toThingName(id), (kept) =>
    encodeKey({ ...decodeKey(kept), last_used_ms: atMs }),
  );
}

function makeToken(id: string): string {
  return `osk_${id}_${randomBytes(SECRET_BYTES).toString("hex")}`;
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
