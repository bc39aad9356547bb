/**
 * A key of the server, as it is kept. The secret is not in it: only its SHA-256, which is enough
 * because a secret of 256 random bits cannot be guessed, however fast guesses are.
 */

import type { Limits as ResponseLimits } from "../../agent/limits.ts";
import type { Json } from "../../base/json.ts";
import type { Amounts, Limits as SpendingLimits, Window } from "../../store/spending.ts";
import { SCOPES, type Scope } from "../route.ts";

export interface Key {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Whose stored things it sees and makes. Keys of one tenant see each other's. */
  readonly tenant: string;
  /** Of the whole key, in hexadecimal. */
  readonly hash: string;
  /** What the last rotation replaced; undefined where there was none. */
  readonly replaced?: ReplacedSecret | undefined;
  /** Left out for all but sessions of the console: nobody has made those by hand, and they end by themselves. */
  readonly session?: true | undefined;
  readonly scopes: readonly Scope[];
  /** Globs; null for all models. */
  readonly models: readonly string[] | null;
  /** Globs of the server's own tools; null for all that the server offers. */
  readonly catalogue: readonly string[] | null;
  /**
   * Globs of the vendors' own fields that it may set, beside those of sampling; an empty list for none at
   * all. Null, or left out by older keys, for those of sampling alone.
   */
  readonly options?: readonly string[] | null | undefined;
  readonly limits: KeyLimits;
  /** What one response may spend. */
  readonly response_limits: ResponseLimits;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  readonly revoked_at_ms: number | null;
  /** To the minute. */
  readonly last_used_ms: number | null;
}

/** A secret that a newer one stands for. It is kept after its time, so that whoever shows it is told why it fails. */
interface ReplacedSecret {
  readonly hash: string;
  readonly replaced_at_ms: number;
  /** It works until then. */
  readonly until_ms: number;
}

/** How long a process remembers a key. What another process changes of it counts here after that. */
export const REMEMBERED_MS = 2000;

interface LimitRow {
  readonly summary: string;
  /** What it counts, and for how long; null for what is counted as it is there. */
  readonly counts: { readonly window: Window; readonly unit: keyof Amounts } | null;
}

/** What a key may use. Flags of `offshoot keys create` are named after these. */
export const KEY_LIMITS = {
  requests_per_minute: {
    summary: "Requests in a minute, of any kind",
    counts: { window: "minute", unit: "requests" },
  },
  tokens_per_minute: {
    summary: "Tokens in a minute, input and output",
    counts: { window: "minute", unit: "tokens" },
  },
  requests_per_day: {
    summary: "Requests in a day (UTC)",
    counts: { window: "day", unit: "requests" },
  },
  tokens_per_day: { summary: "Tokens in a day", counts: { window: "day", unit: "tokens" } },
  usd_per_day: { summary: "Dollars in a day", counts: { window: "day", unit: "usd" } },
  usd_total: { summary: "Dollars, ever", counts: { window: "total", unit: "usd" } },
  concurrent: { summary: "Requests at once", counts: null },
  storage_bytes: {
    summary:
      "Bytes that its tenant may keep: files, vector stores, containers, conversations, responses",
    counts: null,
  },
} as const satisfies Record<string, LimitRow>;

export type KeyLimit = keyof typeof KEY_LIMITS;
/** What is left out has no limit. */
export type KeyLimits = { readonly [Name in KeyLimit]?: number | undefined };

/** Whether what the key does is written down for its limits. */
export function isCounted(limits: KeyLimits): boolean {
  return Object.keys(limits).some((name) => KEY_LIMITS[name as KeyLimit]?.counts);
}

/** All but those of whoever runs the server. */
export const USUAL_SCOPES: readonly Scope[] = ["responses", "files", "models"];
export const ALL_SCOPES = Object.keys(SCOPES) as Scope[];

export function encodeKey(key: Key): Json {
  return key as unknown as Json;
}

/** What this package wrote is taken at its word. */
export function decodeKey(body: Json): Key {
  return body as unknown as Key;
}

export function stateOf(key: Key, nowMs: number): "active" | "expired" | "revoked" {
  if (key.revoked_at_ms !== null) return "revoked";
  return key.expires_at_ms !== null && key.expires_at_ms <= nowMs ? "expired" : "active";
}

/** The limits of the units, by their windows, as they are booked. */
export function toSpendingLimits(
  limits: KeyLimits,
  units: readonly (keyof Amounts)[],
): SpendingLimits {
  const byWindow: { [Name in Window]?: Partial<Record<keyof Amounts, number>> } = {};
  for (const [name, { counts }] of Object.entries(KEY_LIMITS)) {
    const limit = limits[name as KeyLimit];
    if (limit === undefined || !counts || !units.includes(counts.unit)) continue;
    byWindow[counts.window] = { ...byWindow[counts.window], [counts.unit]: limit };
  }
  return byWindow;
}
