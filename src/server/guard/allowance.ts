/**
 * Checks what a key may still use before a request is handled. Requests are booked when they come; tokens and dollars
 * are booked when a response has ended. What responses in progress may spend is in `budgets.ts`.
 */

import { type Limits, NO_LIMITS, toLeast } from "../../agent/limits.ts";
import { Failure } from "../../base/failure.ts";
import type { Amounts, ExceededLimit, Spending, Window } from "../../store/spending.ts";
import {
  type ClientKey,
  isCounted,
  type KeyLimit,
  type KeyLimits,
  toSpendingLimits,
} from "./key.ts";

export interface KeyAllowance {
  /** The most that one response may spend. */
  readonly limits: Limits;
  /** Headers for clients of the API, for example `x-ratelimit-remaining-requests`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The reason for a refusal. A refused request is not booked. */
  readonly refusal: Failure | undefined;
}

export interface AllowanceAsked {
  /**
   * True if the request may cost something. One that costs nothing is admitted after tokens and dollars are used up.
   */
  readonly spends: boolean;
  /** The number of requests that it counts as. */
  readonly requests: number;
  readonly nowMs: number;
}

export async function takeAllowance(
  spending: Spending,
  { id, limits, response_limits }: ClientKey,
  { spends, requests, nowMs }: AllowanceAsked,
): Promise<KeyAllowance> {
  if (!isCounted(limits)) return { limits: response_limits, headers: {}, refusal: undefined };
  const weighed = toSpendingLimits(limits, spends ? UNITS : ["requests"]);
  const excess = await spending.take(id, { requests }, weighed, nowMs);
  const used = await spending.read(id, nowMs);
  return {
    limits: narrow(response_limits, limits, used),
    headers: { ...toRateHeaders(limits, used, nowMs), ...(excess && toRetryHeaders(excess)) },
    refusal: excess && toRefusal(excess, requests),
  };
}

type Used = Readonly<Record<Window, Amounts>>;

const UNITS = ["requests", "tokens", "usd"] as const;

/**
 * The limits for a minute do not bound a response. If a response uses more than remains, later requests have less.
 */
function narrow(own: Limits, limits: KeyLimits, used: Used): Limits {
  const left = (name: KeyLimit, spent: number): number =>
    Math.max(0, (limits[name] ?? Number.POSITIVE_INFINITY) - spent);
  const tokens = left("tokens_per_day", used.day.tokens);
  const usd = Math.min(left("usd_per_day", used.day.usd), left("usd_total", used.total.usd));
  return toLeast(own, { ...NO_LIMITS, tokens, usd });
}

/** The rate limits to report: of the minute, or of the day if that is the only one. */
const RATES = [
  ["requests", "requests_per_minute", "requests_per_day"],
  ["tokens", "tokens_per_minute", "tokens_per_day"],
] as const;

function toRateHeaders(limits: KeyLimits, used: Used, nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [unit, ofMinute, ofDay] of RATES) {
    const window = limits[ofMinute] === undefined ? "day" : "minute";
    const limit = limits[ofMinute] ?? limits[ofDay];
    if (limit === undefined) continue;
    headers[`x-ratelimit-limit-${unit}`] = String(limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(Math.max(0, limit - used[window][unit]));
    const windowMs = WINDOW_MS[window];
    headers[`x-ratelimit-reset-${unit}`] = toDuration(windowMs - (nowMs % windowMs));
  }
  return headers;
}

const WINDOW_MS = { minute: 60_000, day: 86_400_000 };

/** A duration as the API writes it: `1h2m3s`. */
export function toDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  if (hours > 0) return `${hours}h${minutes}m${seconds % 60}s`;
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}

/** Clients try again after any 429. For money that is useless, so the headers say not to. */
function toRetryHeaders({ unit }: ExceededLimit): Record<string, string> {
  return unit === "usd" ? { "x-should-retry": "false" } : {};
}

function toRefusal(
  { window, unit, limit, used, retryAfterMs }: ExceededLimit,
  requests: number,
): Failure {
  const amount = unit === "usd" ? `$${limit}` : `${limit} ${unit}`;
  const time = { minute: "in a minute", day: "in a day (UTC)", total: "in all" }[window];
  const more = unit === "requests" && requests > 1 ? ` This asks for ${requests} more.` : "";
  const message = `This key may use ${amount} ${time}, and has used ${round(used)}.${more}`;
  const wait =
    retryAfterMs === undefined
      ? " This budget does not come back."
      : ` There is more in ${toDuration(retryAfterMs)}.`;
  const code = unit === "usd" ? "budget_exceeded" : "rate_limited";
  return new Failure(code, `${message}${wait}`, { retryAfterMs });
}

function round(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
