/**
 * The keys of a server: made, listed, changed, revoked. They are stored under the tenant with the empty name.
 */

import { createHash, randomBytes } from "node:crypto";
import { type Limits, NO_LIMITS } from "../../agent/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { Shelf, ThingName } from "../../store/shelf.ts";
import type { Scope } from "../route.ts";
import {
  type ClientKey,
  type KeyLimit,
  type KeyLimits,
  STORED_KEY,
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
  /** True for a session of the console: see `ClientKey.session`. */
  readonly isSession?: boolean | undefined;
}

export interface NewClientKey {
  readonly key: ClientKey;
  /** `osk_ID_SECRET`: what clients send. It is not stored, so it can be shown only now. */
  readonly token: string;
}

export async function createKey({ shelf, clock }: KeyParts, wish: KeyWish): Promise<NewClientKey> {
  const { name, tenant = DEFAULT_TENANT, models = null, catalogue = null, options = null } = wish;
  checkName("name", name);
  checkName("tenant", tenant);
  const id = toLetters(randomBytes(ID_CHARS));
  const token = makeToken(id);
  const now = clock.now();
  const key: ClientKey = {
    id,
    name,
    tenant,
    models,
    catalogue,
    options,
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
  // The stored thing does not expire with the key: an expired key is still listed, and refused by its name.
  const kept = { parent: null, created_at_ms: now, expires_at_ms: null };
  await shelf.put({ ...toThingName(id), ...kept, body: STORED_KEY.write(key) });
  return { key, token };
}

/** Sorted by age, the oldest first. */
export async function listKeys(shelf: Shelf): Promise<ClientKey[]> {
  const { tenant, kind } = toThingName("");
  const things = await shelf.list({ tenant, kind, order: "oldest", limit: MAX_LISTED });
  return things.map(({ body }) => STORED_KEY.read(body));
}

/**
 * Sessions of the console do not count: with those alone, no client can ask the server anything.
 */
export async function hasKeys(shelf: Shelf): Promise<boolean> {
  return (await listKeys(shelf)).some(({ session }) => !session);
}

export async function findKey(shelf: Shelf, id: string): Promise<ClientKey | undefined> {
  const thing = await shelf.get(toThingName(id));
  return thing && STORED_KEY.read(thing.body);
}

/**
 * Finds a key by its id, or by its name if one key has it. Of several keys with one name it finds the one that is not
 * revoked. Rejects with `not_found`, or with `invalid_request` if the name is ambiguous.
 */
export async function findNamedKey(shelf: Shelf, nameOrId: string): Promise<ClientKey> {
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

/**
 * Revokes a key for good; other processes notice within seconds. A key that is already revoked stays as it was.
 */
export async function revokeKey({ shelf, clock }: KeyParts, id: string): Promise<ClientKey> {
  const now = clock.now();
  return await changeKey(shelf, id, (key) => {
    return { ...key, revoked_at_ms: key.revoked_at_ms ?? now };
  });
}

/**
 * A change of a key. A field that is left out stays as it is; null removes a limit or a restriction.
 */
export interface KeyChange {
  readonly scopes?: readonly Scope[] | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly catalogue?: readonly string[] | null | undefined;
  readonly options?: readonly string[] | null | undefined;
  readonly limits?: { readonly [Name in KeyLimit]?: number | null | undefined } | undefined;
  readonly responseLimits?: Partial<Limits> | undefined;
  readonly expiresAtMs?: number | null | undefined;
}

/**
 * Changes a key; other processes notice within seconds. Rejects with `conflict` if the key is revoked.
 */
export async function updateKey(
  { shelf }: KeyParts,
  id: string,
  change: KeyChange,
): Promise<ClientKey> {
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

/** A removed limit must not stay as a name without a number. */
function withLimits(limits: KeyLimits, change: KeyChange["limits"]): KeyLimits {
  const all = Object.entries({ ...limits, ...change });
  return Object.fromEntries(all.filter(([, limit]) => limit !== null && limit !== undefined));
}

/**
 * Gives the key a new secret; id and usage stay. The secret before it works for `keepOldMs` more. One that an earlier
 * rotation left working ends now.
 */
export async function rotateKey(
  { shelf, clock }: KeyParts,
  id: string,
  { keepOldMs }: { readonly keepOldMs: number },
): Promise<NewClientKey> {
  const token = makeToken(id);
  const now = clock.now();
  const hash = hashToken(token).toString("hex");
  const key = await changeKey(shelf, id, (before) => {
    // The record makes the change again if its answer was lost: the secret before is not this one.
    if (before.hash === hash) return before;
    checkNotRevoked(before);
    checkNotExpired(before, now);
    const replaced = { hash: before.hash, replaced_at_ms: now, until_ms: now + keepOldMs };
    return { ...before, hash, replaced };
  });
  return { key, token };
}

/** The new secret of an expired key would not work either. */
function checkNotExpired(key: ClientKey, nowMs: number): void {
  if (stateOf(key, nowMs) !== "expired") return;
  const hint = `Give it more time first: offshoot keys update ${key.id} --expires 30d.`;
  throw new Failure("conflict", `The key \`${key.id}\` is expired. ${hint}`);
}

function checkNotRevoked({ id, revoked_at_ms }: ClientKey): void {
  if (revoked_at_ms === null) return;
  const message = `The key \`${id}\` is revoked, which is for good. Make another one: offshoot keys create NAME.`;
  throw new Failure("conflict", message);
}

async function changeKey(
  shelf: Shelf,
  id: string,
  change: (key: ClientKey) => ClientKey,
): Promise<ClientKey> {
  const body = await shelf.change(toThingName(id), (kept) =>
    STORED_KEY.write(change(STORED_KEY.read(kept))),
  );
  if (body !== undefined) return STORED_KEY.read(body);
  throw toUnknownKey(id);
}

function toUnknownKey(nameOrId: string): Failure {
  const message = `There is no key \`${clip(nameOrId, 40)}\`; \`offshoot keys list\` has them.`;
  return new Failure("not_found", message);
}

export async function noteUse(shelf: Shelf, id: string, atMs: number): Promise<void> {
  await shelf.change(toThingName(id), (kept) =>
    STORED_KEY.write({ ...STORED_KEY.read(kept), last_used_ms: atMs }),
  );
}

function makeToken(id: string): string {
  return `osk_${id}_${randomBytes(SECRET_BYTES).toString("hex")}`;
}

/** Returns the id in a token that has the form of our keys. */
export function readKeyId(token: string): string | undefined {
  return /^osk_([a-z0-9]{12})_[0-9a-f]{64}$/.exec(token)?.[1];
}

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

const ID_CHARS = 12;
const SECRET_BYTES = 32;
/** More keys than a server has; the list is for people. */
const MAX_LISTED = 10_000;

function toThingName(id: string): ThingName {
  return { tenant: "", kind: "key", id };
}

/** 32 letters and digits that are not easily confused. */
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
