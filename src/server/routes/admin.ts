/** What is all tenants': keys, tenants with their storage, the audit, the state of this server. None of it without a key. */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { processHealths } from "../../providers/deployments/health.ts";
import type { Limiters } from "../../providers/limits/limiters.ts";
import { parseCursor, parseLimit } from "../../runtime/record/run-query.ts";
import type { Audit } from "../../store/audit.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { KeyAmounts, Spending } from "../../store/spending.ts";
import { VERSION } from "../../version.ts";
import { ALL_SCOPES, KEY_LIMITS, type Key, type KeyLimits, stateOf } from "../guard/key.ts";
import { createKey, listKeys, revokeKey } from "../guard/keys.ts";
import type { Route, RouteCall, Scope } from "../route.ts";
import { toPrivate } from "./runs.ts";
import { idOf, optionalText, readObject, requireText } from "./viewer.ts";

export interface AdminParts {
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly limiters?: Limiters | undefined;
  /** How many runs of a queue wait, in all processes. */
  readonly countWaiting: (queue: string) => Promise<number>;
  readonly queues: readonly string[];
  /** Settings that are no secret, for people. */
  readonly settings: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

export function createAdminRoutes(parts: AdminParts): Route[] {
  return [...toKeyRoutes(parts), ...toStateRoutes(parts)];
}

const ADMIN = { scope: "admin", needsKey: true } as const;

function toKeyRoutes(parts: AdminParts): Route[] {
  const { shelf, spending, clock } = parts;
  return [
    {
      ...{ ...ADMIN, method: "GET", path: "/v1/admin/keys" },
      summary: "All keys with what they may do and have used; no secrets",
      async handle() {
        const [keys, today, total] = await Promise.all([
          listKeys(shelf),
          spending.list(clock.now()),
          spending.list(undefined),
        ]);
        const data = keys.slice(-MAX_KEYS).map((key) => ({
          ...toKeyView(key, clock.now()),
          used_today: amountsOf(today, key.id),
          used: amountsOf(total, key.id),
        }));
        return toPrivate({ object: "list", data, next: null });
      },
    },
    {
      ...{ ...ADMIN, method: "POST", path: "/v1/admin/keys" },
      summary: "Make a key; its secret is in this answer and nowhere else",
      async handle(call) {
        const { key, token } = await createKey(parts, await readWish(call, clock.now()));
        return toPrivate({ ...toKeyView(key, clock.now()), token });
      },
    },
    {
      ...{ ...ADMIN, method: "DELETE", path: "/v1/admin/keys/:id" },
      summary: "Revoke a key, for good",
      async handle(call) {
        return toPrivate(toKeyView(await revokeKey(parts, idOf(call)), clock.now()));
      },
    },
  ];
}

function toStateRoutes(parts: AdminParts): Route[] {
  return [
    {
      ...{ ...ADMIN, method: "GET", path: "/v1/admin/tenants" },
      summary: "Tenants that have keys, with the bytes they keep and may keep",
      handle: async () => toPrivate({ object: "list", data: await listTenants(parts), next: null }),
    },
    {
      ...{ ...ADMIN, method: "GET", path: "/v1/admin/audit" },
      summary: "Who changed what, and who was refused, the newest first",
      handle: async (call) => toPrivate(await readAudit(parts, call)),
    },
    {
      ...{ ...ADMIN, method: "GET", path: "/v1/admin/system" },
      summary: "The process that answers: version, queues, health of deployments, settings",
      handle: async () => toPrivate(await readSystem(parts)),
    },
  ];
}

const MAX_KEYS = 2000;

function toKeyView({ hash: _, replaced: __, ...key }: Key, nowMs: number): object {
  return { object: "key", ...key, state: stateOf(key as Key, nowMs) };
}

function amountsOf(all: readonly KeyAmounts[], id: string): object {
  const { requests = 0, tokens = 0, usd = 0 } = all.find(({ keyId }) => keyId === id) ?? {};
  return { requests, tokens, usd };
}

async function readWish(call: RouteCall, nowMs: number): Promise<Parameters<typeof createKey>[1]> {
  const body = await readObject(call);
  const { scopes, limits, expires_in_s } = body;
  return {
    name: requireText(body, "name"),
    tenant: optionalText(body, "tenant"),
    scopes: scopes === undefined ? undefined : readScopes(scopes),
    limits: limits === undefined ? undefined : readLimits(limits),
    expiresAtMs: typeof expires_in_s === "number" ? nowMs + expires_in_s * 1000 : undefined,
  };
}

function readScopes(given: unknown): readonly Scope[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const wrong = list.find((one) => !ALL_SCOPES.some((scope) => scope === one));
  if (wrong === undefined) return list as readonly Scope[];
  const message = `Unknown scope \`${clip(String(wrong), 40)}\`. Use: ${ALL_SCOPES.join(", ")}.`;
  throw new Failure("invalid_request", message, { param: "scopes" });
}

function readLimits(given: unknown): KeyLimits {
  const entries = Object.entries(given ?? {});
  const wrong = entries.find(
    ([name, value]) => !Object.hasOwn(KEY_LIMITS, name) || typeof value !== "number" || value < 0,
  );
  if (!wrong) return Object.fromEntries(entries) as KeyLimits;
  const message = `\`limits.${clip(wrong[0], 40)}\` is not a limit with a number. Limits: ${Object.keys(KEY_LIMITS).join(", ")}.`;
  throw new Failure("invalid_request", message, { param: "limits" });
}

async function listTenants({ shelf, clock }: AdminParts): Promise<readonly object[]> {
  const keys = await listKeys(shelf);
  const tenants = new Map<string, Key[]>();
  for (const key of keys) tenants.set(key.tenant, [...(tenants.get(key.tenant) ?? []), key]);
  const rows: object[] = [];
  for (const [tenant, own] of [...tenants].slice(0, MAX_KEYS)) {
    const active = own.filter((key) => stateOf(key, clock.now()) === "active");
    const limits = active.flatMap(({ limits: { storage_bytes } }) => storage_bytes ?? []);
    rows.push({
      ...{ object: "tenant", id: tenant, keys: active.length },
      bytes: await shelf.countBytes(tenant),
      storage_bytes: limits.length === 0 ? null : Math.max(...limits),
    });
  }
  return rows;
}

async function readAudit({ audit }: AdminParts, { query }: RouteCall): Promise<object> {
  const limit = parseLimit(query);
  const at = parseCursor(query.get("after"));
  const filters = {
    keyId: query.get("key") || undefined,
    tenant: query.get("tenant") || undefined,
    action: query.get("search") || undefined,
  };
  const rows = await audit.list({ limit: limit + 1, before: at?.at_ms, ...filters });
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const next = rows.length > limit && last ? toAuditCursor(last.id) : null;
  return { object: "list", data, next };
}

/** By its number: entries have no other id. */
function toAuditCursor(id: number): string {
  return Buffer.from(JSON.stringify([id, ""])).toString("base64url");
}

async function readSystem(parts: AdminParts): Promise<object> {
  const queues: object[] = [];
  for (const name of parts.queues) queues.push({ name, waiting: await parts.countWaiting(name) });
  const { rss, heapUsed } = process.memoryUsage();
  return {
    object: "system",
    version: VERSION,
    node: process.version,
    pid: process.pid,
    uptime_seconds: Math.round(process.uptime()),
    memory: { rss_bytes: rss, heap_bytes: heapUsed },
    queues,
    deployments: processHealths.report().map(({ label, isReady, failures }) => ({
      ...{ model: label, is_ready: isReady, failures },
    })),
    vendors: (parts.limiters?.report?.() ?? []).map((limiter) => ({
      ...{ vendor: limiter.vendor, limit: limiter.limit, in_flight: limiter.inFlight },
      ...{ waiting: limiter.waiting, is_paused: limiter.isPaused },
    })),
    settings: parts.settings,
  };
}
