/**
 * Routes about all tenants: tenants with their storage, the audit, the state of this server. All of them need a key.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { SettingView } from "../../runtime/about-views.ts";
import { parseCursor, parseLimit, toCursor, toPage } from "../../runtime/record/run-query.ts";
import type { Audit, AuditQuery } from "../../store/audit.ts";
import type { RecordState } from "../../store/record-state.ts";
import { VERSION } from "../../version.ts";
import type { CheckView, SystemView, TenantView } from "../admin-views.ts";
import { type ClientKey, stateOf } from "../guard/key.ts";
import { listKeys } from "../guard/keys.ts";
import type { Route, RouteCall } from "../route.ts";
import { ADMIN, createKeyRoutes, type KeyRouteParts } from "./admin-keys.ts";
import { type AdminModelParts, createAdminModelRoutes } from "./admin-models.ts";
import { toPrivate } from "./runs.ts";

export interface AdminParts extends KeyRouteParts, AdminModelParts {
  readonly audit: Audit;
  readonly clock: Clock;
  readonly state: RecordState;
  /** The most runs of each queue that may work at once in all processes, by the queue's name. */
  readonly queues: Readonly<Record<string, number>>;
  /** The settings for people, without secrets. */
  readonly readSettings: () => readonly SettingView[];
  /**
   * Runs the checks of `offshoot doctor` on the server's machine. Undefined if they are not available.
   */
  readonly runDoctor?: (() => Promise<readonly CheckView[]>) | undefined;
}

export function createAdminRoutes(parts: AdminParts): Route[] {
  return [
    ...createKeyRoutes(parts),
    ...toTenantRoutes(parts),
    ...createAdminModelRoutes(parts),
    ...toSystemRoutes(parts),
  ];
}

function toTenantRoutes(parts: AdminParts): Route[] {
  return [
    {
      ...ADMIN,
      method: "GET",
      path: "/v1/admin/tenants",
      summary: "Tenants with their keys, the bytes they keep and may keep, and how many things",
      handle: async () => toPrivate({ object: "list", data: await listTenants(parts), next: null }),
    },
    {
      ...ADMIN,
      method: "GET",
      path: "/v1/admin/audit",
      summary: "Requests that changed something or were refused, newest first",
      handle: async (call) => toPrivate(await readAudit(parts, call)),
    },
  ];
}

function toSystemRoutes(parts: AdminParts): Route[] {
  return [
    {
      ...ADMIN,
      method: "GET",
      path: "/v1/admin/system",
      summary: "The process that answers, all processes of the record, and the length of queues",
      handle: async () => toPrivate(await readSystem(parts)),
    },
    {
      ...ADMIN,
      method: "GET",
      path: "/v1/admin/settings",
      summary: "Every setting with its value and where that comes from",
      handle: async () => toPrivate({ object: "list", data: parts.readSettings(), next: null }),
    },
    {
      ...ADMIN,
      method: "GET",
      path: "/v1/admin/doctor",
      summary: "Check the server's machine, as `offshoot doctor` does",
      async handle() {
        const checks = await parts.runDoctor?.();
        if (checks) return toPrivate({ object: "list", data: checks, next: null });
        const message = "This server cannot look at its machine. Run `offshoot doctor` there.";
        throw new Failure("not_found", message);
      },
    },
  ];
}

async function listTenants({ shelf, state, clock }: AdminParts): Promise<readonly TenantView[]> {
  const keys = await listKeys(shelf);
  const storage = await state.listStorage();
  const kinds = await state.countKinds();
  const active = keys.filter((key) => stateOf(key, clock.now()) === "active" && !key.session);
  const names = new Set([...storage, ...kinds, ...active].map(({ tenant }) => tenant));
  // The server's own things belong to no tenant.
  names.delete("");
  return [...names].sort().map((id) => ({
    object: "tenant",
    id,
    keys: active.filter(({ tenant }) => tenant === id).length,
    bytes: storage.find(({ tenant }) => tenant === id)?.bytes ?? 0,
    storage_bytes: leastStorage(active.filter(({ tenant }) => tenant === id)),
    counts: Object.fromEntries(
      kinds.filter(({ tenant }) => tenant === id).map(({ kind, count }) => [kind, count]),
    ),
  }));
}

/** The smallest limit of all keys, as for the quota itself. */
function leastStorage(keys: readonly ClientKey[]): number | null {
  const limits = keys.flatMap(({ limits: { storage_bytes } }) => storage_bytes ?? []);
  return limits.length === 0 ? null : Math.min(...limits);
}

async function readAudit({ audit }: AdminParts, { query }: RouteCall): Promise<object> {
  const limit = parseLimit(query);
  const filters = {
    keyId: query.get("key") || undefined,
    tenant: query.get("tenant") || undefined,
    action: query.get("search") || undefined,
    status: parseStatus(query.get("status")),
    before: parseCursor(query.get("after"))?.at_ms,
  };
  const rows = await audit.list({ limit: limit + 1, ...filters });
  // Pages of entries continue at their number.
  return toPage(rows.slice(0, limit), rows.length > limit, ({ id }) => toCursor(id, ""));
}

/** `403`, or `4xx` for all from 400 to 499. */
function parseStatus(text: string | null): AuditQuery["status"] {
  if (text === null || text === "") return undefined;
  const [, digit, whole] = /^(?:([1-5])xx|([1-5]\d\d))$/.exec(text) ?? [];
  if (digit !== undefined) return [Number(digit) * 100, Number(digit) * 100 + 100];
  if (whole !== undefined) return [Number(whole), Number(whole) + 1];
  const message = `\`status\` is \`${clip(text, 40)}\`. Use a status as 403, or 4xx.`;
  throw new Failure("invalid_request", message, { param: "status" });
}

async function readSystem({ state, queues, clock }: AdminParts): Promise<SystemView> {
  const { rss, heapUsed } = process.memoryUsage();
  const workers = await state.listWorkers(clock.now());
  const lanes = await state.listLanes();
  const known = new Set([...Object.keys(queues), ...lanes.map(({ queue }) => queue)]);
  return {
    object: "system",
    version: VERSION,
    node: process.version,
    pid: process.pid,
    uptime_seconds: Math.round(process.uptime()),
    memory: { rss_bytes: rss, heap_bytes: heapUsed },
    workers,
    queues: [...known].map((name) => {
      const own = lanes.filter(({ queue }) => queue === name);
      const sum = (of: "running" | "waiting"): number =>
        own.reduce((total, lane) => total + lane[of], 0);
      return {
        name,
        at_once: queues[name] ?? null,
        running: sum("running"),
        waiting: sum("waiting"),
        lanes: own,
      };
    }),
  };
}
