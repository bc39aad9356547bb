/**
 * Routes that list the server's keys with their use, and make, change, rotate and revoke them. All of them need a
 * key.
 */

import type { Limits as ResponseLimits } from "../../agent/limits.ts";
import { NO_LIMITS } from "../../agent/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { KeyAmounts, Spending } from "../../store/spending.ts";
import type { KeyUse, KeyView, ListedKeyView } from "../admin-views.ts";
import { ALL_SCOPES, type ClientKey, KEY_LIMITS, stateOf } from "../guard/key.ts";
import {
  createKey,
  type KeyChange,
  listKeys,
  revokeKey,
  rotateKey,
  updateKey,
} from "../guard/keys.ts";
import type { Route, Scope } from "../route.ts";
import { toPrivate } from "./runs.ts";
import { idOf, optionalText, readObject, requireText } from "./viewer.ts";

export interface KeyRouteParts {
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly clock: Clock;
}

export const ADMIN = { scope: "admin", needsKey: true } as const;
const ONE = "/v1/admin/keys/:id";
const MAX_KEYS = 2000;

export function createKeyRoutes(parts: KeyRouteParts): Route[] {
  const { clock } = parts;
  const view = (key: ClientKey): KeyView => toKeyView(key, clock.now());
  return [
    {
      ...ADMIN,
      method: "GET",
      path: "/v1/admin/keys",
      summary: "List keys with their rights and use, without secrets",
      handle: async () => toPrivate({ object: "list", data: await readKeys(parts), next: null }),
    },
    {
      ...ADMIN,
      method: "POST",
      path: "/v1/admin/keys",
      summary: "Make a key; only this answer has its secret",
      async handle(call) {
        const body = await readObject(call);
        const change = readChange(body, clock.now());
        const { key, token } = await createKey(parts, {
          name: requireText(body, "name"),
          tenant: optionalText(body, "tenant"),
          ...toWish(change),
        });
        return toPrivate({ ...view(key), token });
      },
    },
    {
      ...ADMIN,
      method: "POST",
      path: ONE,
      summary: "Change a key; null removes a limit or a restriction",
      async handle(call) {
        const change = readChange(await readObject(call), clock.now());
        return toPrivate(view(await updateKey(parts, idOf(call), change)));
      },
    },
    {
      ...ADMIN,
      method: "POST",
      path: `${ONE}/rotate`,
      summary: "Give a key a new secret; the old one works for `keep_old_s` more",
      async handle(call) {
        const { keep_old_s = 0 } = await readObject(call);
        const keepOldMs = requireSeconds("keep_old_s", keep_old_s) * 1000;
        const { key, token } = await rotateKey(parts, idOf(call), { keepOldMs });
        return toPrivate({ ...view(key), token });
      },
    },
    {
      ...ADMIN,
      method: "DELETE",
      path: ONE,
      summary: "Revoke a key, for good",
      handle: async (call) => toPrivate(view(await revokeKey(parts, idOf(call)))),
    },
  ];
}

async function readKeys(parts: KeyRouteParts): Promise<readonly ListedKeyView[]> {
  const { shelf, spending, clock } = parts;
  const nowMs = clock.now();
  const [keys, today, total] = await Promise.all([
    listKeys(shelf),
    spending.list(nowMs),
    spending.list(undefined),
  ]);
  const ofToday = byKey(today);
  const ofAll = byKey(total);
  return keys.slice(-MAX_KEYS).map((key) => ({
    ...toKeyView(key, nowMs),
    used_today: toAmounts(ofToday.get(key.id)),
    used: toAmounts(ofAll.get(key.id)),
  }));
}

function toKeyView({ hash: _, replaced, ...key }: ClientKey, nowMs: number): KeyView {
  const isOldWorking = replaced !== undefined && replaced.until_ms > nowMs;
  const old_secret_until_ms = isOldWorking ? replaced.until_ms : null;
  return { object: "key", ...key, old_secret_until_ms, state: stateOf(key as ClientKey, nowMs) };
}

function byKey(all: readonly KeyAmounts[]): ReadonlyMap<string, KeyAmounts> {
  return new Map(all.map((one) => [one.keyId, one]));
}

function toAmounts(used: KeyAmounts | undefined): KeyUse {
  const { requests = 0, tokens = 0, usd = 0 } = used ?? {};
  return { requests, tokens, usd };
}

/** A new key has no limit to remove: null means the same as a missing field. */
function toWish({
  limits = {},
  ...change
}: KeyChange): Omit<Parameters<typeof createKey>[1], "name"> {
  const given = Object.entries(limits).filter(([, limit]) => limit !== null);
  return {
    ...change,
    limits: Object.fromEntries(given),
    models: change.models ?? undefined,
    catalogue: change.catalogue ?? undefined,
    options: change.options ?? undefined,
    expiresAtMs: change.expiresAtMs ?? undefined,
  };
}

/** Only fields that the body names are changed. */
function readChange(body: JsonObject, nowMs: number): KeyChange {
  const { scopes, limits, response_limits, expires_in_s } = body;
  return {
    scopes: scopes === undefined ? undefined : readScopes(scopes),
    models: readGlobs(body, "models"),
    catalogue: readGlobs(body, "tools"),
    options: readGlobs(body, "options"),
    limits: limits === undefined ? undefined : readLimits("limits", limits, KEY_LIMITS),
    responseLimits:
      response_limits === undefined
        ? undefined
        : (readLimits("response_limits", response_limits, NO_LIMITS) as Partial<ResponseLimits>),
    expiresAtMs:
      expires_in_s === undefined || expires_in_s === null
        ? expires_in_s
        : nowMs + requireSeconds("expires_in_s", expires_in_s) * 1000,
  };
}

function readScopes(given: Json): readonly Scope[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const wrong = list.find((one) => !ALL_SCOPES.some((scope) => scope === one));
  if (wrong === undefined) return list as readonly Scope[];
  const message = `Unknown scope \`${clip(String(wrong), 40)}\`. Use: ${ALL_SCOPES.join(", ")}.`;
  throw new Failure("invalid_request", message, { param: "scopes" });
}

/** Null for no restriction. */
function readGlobs(body: JsonObject, name: string): readonly string[] | null | undefined {
  const given = body[name];
  if (given === undefined || given === null) return given;
  const isList = Array.isArray(given) && given.every((one) => typeof one === "string" && one);
  if (isList) return given as readonly string[];
  const message = `\`${name}\` is a list of names or patterns, or null for all of them.`;
  throw new Failure("invalid_request", message, { param: name });
}

function readLimits(
  param: string,
  given: Json,
  known: object,
): Readonly<Record<string, number | null>> {
  const entries = Object.entries(isJsonObject(given) ? given : {});
  const wrong = entries.find(
    ([name, value]) => !Object.hasOwn(known, name) || !(value === null || isAmount(value)),
  );
  if (!wrong && isJsonObject(given)) return Object.fromEntries(entries) as Record<string, number>;
  const name = clip(wrong?.[0] ?? "", 40);
  const message = `\`${param}.${name}\` is not a limit with a number. Limits: ${Object.keys(known).join(", ")}.`;
  throw new Failure("invalid_request", message, { param });
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function requireSeconds(param: string, given: Json): number {
  if (isAmount(given)) return given;
  const message = `\`${param}\` is not a number of seconds.`;
  throw new Failure("invalid_request", message, { param });
}
