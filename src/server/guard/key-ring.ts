/**
 * Finds the key that a token names. Right ones are remembered for seconds, so that a busy client costs
 * a hash a request and no query, and a key that is revoked in any process is dead everywhere soon.
 *
 * Tokens are compared by their hashes in constant time, and remembered by them alone. A token whose id
 * nobody has is compared too, so that the time it takes does not tell ids.
 */

import { timingSafeEqual } from "node:crypto";
import { NO_LIMITS } from "../../agent/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { Shelf } from "../../store/shelf.ts";
import { ALL_SCOPES, type Key, REMEMBERED_MS, stateOf } from "./key.ts";
import { findKey, hashToken, readKeyId } from "./keys.ts";

export interface KeyRing {
  /** Rejects with `unauthorized` what is no key, or one that is expired or revoked. */
  find(token: string): Promise<FoundKey>;
}

export interface FoundKey {
  readonly key: Key;
  /** It was read from the record a while ago, and counts until then. */
  readonly untilMs: number;
}

interface KeyRingParts {
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** The one key that is no row: what `OFFSHOOT_SERVER_KEY` holds. */
  readonly fixedToken: () => string | undefined;
}

const MAX_REMEMBERED = 1000;

export function createKeyRing({ shelf, clock, fixedToken }: KeyRingParts): KeyRing {
  const remembered = new Map<string, FoundKey>();

  async function look(token: string, hash: Buffer, nowMs: number): Promise<FoundKey> {
    const untilMs = nowMs + REMEMBERED_MS;
    const fixed = fixedToken();
    if (fixed && timingSafeEqual(hash, hashToken(fixed))) return { key: FIXED_KEY, untilMs };
    const id = readKeyId(token);
    const key = id === undefined ? undefined : await findKey(shelf, id);
    const isNew = isHash(hash, key?.hash);
    const isReplaced = isHash(hash, key?.replaced?.hash);
    if (isNew && key) return { key, untilMs };
    if (!isReplaced || !key?.replaced) {
      throw new Failure("unauthorized", "The server does not know this key.");
    }
    const { until_ms } = key.replaced;
    if (until_ms > nowMs) return { key, untilMs: Math.min(untilMs, until_ms) };
    const message = `This secret of the key \`${key.id}\` was replaced. Send the new one.`;
    throw new Failure("unauthorized", message);
  }

  return {
    async find(token) {
      const hash = hashToken(token);
      const name = hash.toString("base64");
      const nowMs = clock.now();
      let found = remembered.get(name);
      if (!found || found.untilMs <= nowMs) {
        remembered.delete(name);
        found = await look(token, hash, nowMs);
        if (remembered.size >= MAX_REMEMBERED) forgetOldest(remembered);
        remembered.set(name, found);
      }
      const state = stateOf(found.key, nowMs);
      if (state === "active") return found;
      throw new Failure("unauthorized", `The key \`${found.key.id}\` is ${state}.`);
    },
  };
}

const NO_HASH = "0".repeat(64);

/** Takes the same time where there is no hash to compare with. */
function isHash(hash: Buffer, known: string = NO_HASH): boolean {
  return timingSafeEqual(hash, Buffer.from(known, "hex"));
}

/** Whoever sets the server's environment runs the server. */
export const FIXED_KEY: Key = {
  id: "environment",
  name: "OFFSHOOT_SERVER_KEY",
  tenant: DEFAULT_TENANT,
  hash: NO_HASH,
  scopes: ALL_SCOPES,
  models: null,
  catalogue: null,
  options: ["*"],
  limits: {},
  response_limits: NO_LIMITS,
  created_at_ms: 0,
  expires_at_ms: null,
  revoked_at_ms: null,
  last_used_ms: null,
};

/** A map gives its entries in the order they were put in. */
function forgetOldest(entries: Map<string, unknown>): void {
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
