/**
 * Reads from an answer's headers how long to wait: the server's own time (`retry-after`), and counters that
 * are zero (`x-ratelimit-…`, `anthropic-ratelimit-…`). All in milliseconds from now.
 */

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Reads seconds or a date, or the milliseconds that OpenAI adds. A date in the past means no wait. Without
 * a clock, a date is only useful if the server sends its own time.
 */
export function readRetryAfter(headers: Headers, nowMs = Number.NaN): number | undefined {
  const ms = headers["retry-after-ms"]?.trim();
  if (ms && Number.isFinite(Number(ms))) return Math.max(0, Number(ms));
  const value = headers["retry-after"]?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const waitMs = Date.parse(value) - theirNow(headers, nowMs);
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

/** The wait until the last of the zero counters is full again; `undefined` if none is zero. */
export function readSpentWait(headers: Headers, nowMs: number): number | undefined {
  let longest: number | undefined;
  for (const name in headers) {
    // Every answer has headers, and few have counters: most are skipped after two checks.
    const resetName = COUNTER.test(name) ? resetOf(name.toLowerCase()) : undefined;
    if (!resetName || !isSpent(headers[name])) continue;
    const waitMs = toWaitMs(headers[resetName], theirNow(headers, nowMs));
    if (waitMs !== undefined) longest = Math.max(longest ?? 0, waitMs);
  }
  return longest;
}

const COUNTER = /ratelimit.*remaining/i;

/**
 * The reset of a counter: `x-ratelimit-remaining-tokens` and `anthropic-ratelimit-tokens-remaining` each
 * have one.
 */
function resetOf(name: string): string | undefined {
  const isCounter = /^x-ratelimit-remaining(-|$)|^anthropic-ratelimit-.+-remaining$/.test(name);
  return isCounter ? name.replace("remaining", "reset") : undefined;
}

function isSpent(remaining: string | undefined): boolean {
  return remaining !== undefined && remaining.trim() !== "" && Number(remaining) <= 0;
}

/** The current time by the server's clock, which its `date` header shows. */
function theirNow(headers: Headers, nowMs: number): number {
  const dateMs = Date.parse(headers["date"] ?? "");
  return Number.isNaN(dateMs) ? nowMs : dateMs;
}

/** A larger number is not a span but a time since 1970, in seconds or in milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

/** Reads a span (`6m0s`, `12.5`) or a time (RFC 3339, seconds or milliseconds since 1970). */
function toWaitMs(reset: string | undefined, nowMs: number): number | undefined {
  const value = reset?.trim() ?? "";
  if (value === "") return undefined;
  const number = Number(value);
  if (!Number.isNaN(number)) {
    if (number >= EPOCH_MS) return Math.max(0, number - nowMs);
    if (number >= EPOCH_SECONDS) return Math.max(0, number * 1000 - nowMs);
    return Math.max(0, number * 1000);
  }
  const spanMs = toSpanMs(value);
  if (spanMs !== undefined) return spanMs;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};
const PIECE = String.raw`(\d+(?:\.\d+)?)(ms|us|\u00b5s|ns|d|h|m|s)`;
const SPAN = new RegExp(`^(?:${PIECE})+$`);

/** Reads a duration in the form of Go: `1h2m3.5s`, `20ms`. */
function toSpanMs(value: string): number | undefined {
  if (!SPAN.test(value)) return undefined;
  let ms = 0;
  for (const [, count, unit] of value.matchAll(new RegExp(PIECE, "g"))) {
    ms += Number(count) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  return ms;
}
