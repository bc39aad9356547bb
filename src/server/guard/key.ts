/**
 * A key of the server, as it is stored. The secret is not in it: only its SHA-256, which is enough because a secret
 * of 256 random bits cannot be guessed at any speed.
 */

import type { Limits as ResponseLimits } from "../../agent/limits.ts";
import { storedObject } from "../../base/stored.ts";
import type { Amounts, SpendingLimits, Window } from "../../store/spending.ts";
import { SCOPES, type Scope } from "../route.ts";

export interface ClientKey {
  readonly id: string;
  /** A name for people. */
  readonly name: string;
  /** The tenant whose stored things it sees and makes. Keys of one tenant see each other's. */
  readonly tenant: string;
  /** SHA-256 of the whole key, in hexadecimal. */
  readonly hash: string;
  /** The secret that the last rotation replaced; undefined if there was no rotation. */
  readonly replaced?: ReplacedSecret | undefined;
  /**
   * True for sessions of the console, which no person made and which end by themselves. Left out for all other keys.
   */
  readonly session?: true | undefined;
  readonly scopes: readonly Scope[];
  /** Globs of the models that it may ask; null for all. */
  readonly models: readonly string[] | null;
  /** Globs of the server's own tools that it may use; null for all that the server offers. */
  readonly catalogue: readonly string[] | null;
  /**
   * Globs of the vendors' own fields that it may set, besides those of sampling; an empty list for none at all. Null,
   * or left out by older keys, for those of sampling alone.
   */
  readonly options?: readonly string[] | null | undefined;
  readonly limits: KeyLimits;
  /** The most that one response may spend. */
  readonly response_limits: ResponseLimits;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  readonly revoked_at_ms: number | null;
  /** Accurate to the minute. */
  readonly last_used_ms: number | null;
}

/**
 * A secret that a newer one replaced. It is kept after its time, so that the error for a client that still uses it
 * says why it fails.
 */
interface ReplacedSecret {
  readonly hash: string;
  readonly replaced_at_ms: number;
  /** The time until which it works. */
  readonly until_ms: number;
}

/**
 * How long a process remembers a key. Changes by another process take effect here after that time.
 */
export const REMEMBERED_MS = 2000;

interface LimitRow {
  readonly summary: string;
  /** The unit of the limit and its window of time; null if the present amount is counted. */
  readonly counts: { readonly window: Window; readonly unit: keyof Amounts } | null;
}

/** The limits that a key can have. Flags of `offshoot keys create` are named after these. */
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
/** A limit that is left out does not exist. */
export type KeyLimits = { readonly [Name in KeyLimit]?: number | undefined };

/** True if the use of the key must be written down for its limits. */
export function isCounted(limits: KeyLimits): boolean {
  return Object.keys(limits).some((name) => KEY_LIMITS[name as KeyLimit]?.counts);
}

/** All scopes except those of the operator. */
export const USUAL_SCOPES: readonly Scope[] = ["responses", "files", "models"];
export const ALL_SCOPES = Object.keys(SCOPES) as Scope[];

/** As the shelf has it. */
export const STORED_KEY = storedObject<ClientKey>("a key", ["id", "tenant", "scopes", "limits"]);

export function stateOf(key: ClientKey, nowMs: number): "active" | "expired" | "revoked" {
  if (key.revoked_at_ms !== null) return "revoked";
  return key.expires_at_ms !== null && key.expires_at_ms <= nowMs ? "expired" : "active";
}

/** The limits of each unit by window, in the form in which they are booked. */
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
