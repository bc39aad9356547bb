/** Writes keys for people: a row of a list, and all about one key. */

import { plural } from "../../base/text.ts";
import { type ClientKey, KEY_LIMITS, type KeyLimit, stateOf } from "../../server/guard/key.ts";
import type { Amounts, Window } from "../../store/spending.ts";
import { toMoney, toPartialMoney } from "../output/amounts.ts";
import { cleanForTerminal } from "../terminal.ts";
import { RESPONSE_FLAGS, toFlag } from "./key-wish.ts";

export interface UsedKey {
  readonly key: ClientKey;
  readonly used: Readonly<Record<Exclude<Window, "minute">, Amounts>>;
}

/** For programs, without hashes: those are of no use outside. */
export function toShown({ hash: _, replaced, ...key }: ClientKey): object {
  if (!replaced) return key;
  const { replaced_at_ms, until_ms } = replaced;
  return { ...key, rotated_at_ms: replaced_at_ms, old_secret_until_ms: until_ms };
}

export function toRow({ key, used: { day, total } }: UsedKey, nowMs: number): string[] {
  const { id, name, tenant, scopes, last_used_ms } = key;
  const used = last_used_ms === null ? "never used" : `used ${toDay(last_used_ms)}`;
  const may = [scopes.join(","), ...toBounds(key)].filter((text) => text !== "").join(" ");
  const amounts = [`today ${toUsed(day)}`, `in all ${toUsed(total)}`];
  return [id, name, tenant, stateOf(key, nowMs), used, ...amounts, may].map(cleanForTerminal);
}

/** For example `3 requests, 1200 tokens, $0.01`. Tokens that cost nothing are `free`. */
function toUsed({ requests, tokens, usd, unpriced }: Amounts): string {
  return `${plural(requests, "request")}, ${plural(tokens, "token")}, ${toCost({ tokens, usd, unpriced })}`;
}

export function toCost({ tokens, usd, unpriced }: Omit<Amounts, "requests">): string {
  return tokens === 0 && usd === 0 ? "$0.00" : toPartialMoney(usd, unpriced);
}

/** All that is known about a key, one line each. */
export function renderKey({ key, used }: UsedKey, nowMs: number): string {
  const { models, catalogue, options, limits, expires_at_ms, revoked_at_ms, last_used_ms } = key;
  const lines: [string, string][] = [
    ["id", key.id],
    ["name", key.name],
    ["tenant", key.tenant],
    ["state", stateOf(key, nowMs)],
    ["scopes", key.scopes.join(", ") || "none"],
    ["models", models?.join(", ") ?? "all"],
    ["tools", catalogue ? catalogue.join(", ") || "none" : "all"],
    ["options", options ? options.join(", ") || "none" : "sampling"],
    ["limits", toAmounts(limits).join(", ") || "none"],
    ["a response", toResponseLimits(key).join(", ") || "no limits"],
    ["today", toUsed(used.day)],
    ["in all", toUsed(used.total)],
    ["created", toTime(key.created_at_ms)],
    ["expires", expires_at_ms === null ? "never" : toTime(expires_at_ms)],
    ["last used", last_used_ms === null ? "never" : toTime(last_used_ms)],
    ...(key.replaced ? [["rotated", toRotation(key.replaced, nowMs)] as [string, string]] : []),
    ...(revoked_at_ms === null ? [] : [["revoked", toTime(revoked_at_ms)] as [string, string]]),
  ];
  return lines.map(([name, text]) => `${name.padEnd(12)}${cleanForTerminal(text)}\n`).join("");
}

function toRotation(
  { replaced_at_ms, until_ms }: NonNullable<ClientKey["replaced"]>,
  nowMs: number,
): string {
  const old = until_ms > nowMs ? `; the old secret works until ${toTime(until_ms)}` : "";
  return `${toTime(replaced_at_ms)}${old}`;
}

/** The limits of the key, in the words of the flags. */
function toBounds(key: ClientKey): string[] {
  const { models, catalogue, options, limits, expires_at_ms } = key;
  return [
    ...(models ? [`models=${models.join(",")}`] : []),
    ...(catalogue ? [`tools=${catalogue.join(",") || "none"}`] : []),
    ...(options ? [`options=${options.join(",") || "none"}`] : []),
    ...toAmounts(limits),
    ...toResponseLimits(key),
    ...(expires_at_ms === null ? [] : [`expires=${toDay(expires_at_ms)}`]),
  ];
}

function toAmounts(limits: ClientKey["limits"]): string[] {
  return Object.keys(KEY_LIMITS).flatMap((name) => {
    const limit = limits[name as KeyLimit];
    return limit === undefined ? [] : [toAmount(toFlag(name), limit)];
  });
}

function toResponseLimits({ response_limits }: ClientKey): string[] {
  return Object.entries(RESPONSE_FLAGS).flatMap(([flag, kind]) => {
    const limit = response_limits[kind];
    return limit === null ? [] : [toAmount(flag, limit)];
  });
}

function toAmount(flag: string, limit: number): string {
  const isMoney = flag.startsWith("usd") || flag === "max-cost";
  return `${flag}=${isMoney ? toMoney(limit) : limit}`;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Accurate to the second, in UTC. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

export function toTable(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)),
    [],
  );
  const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
