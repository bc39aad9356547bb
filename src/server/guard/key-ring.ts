/**
 * Finds the key of a token. Valid tokens are remembered for seconds: so a busy client costs one hash for each request
 * and no query, and a key that is revoked in any process soon stops working everywhere.
 *
 * Tokens are compared by their hashes in constant time, and only the hashes are remembered. A token with an unknown
 * id is compared too, so that the time it takes does not reveal ids.
 */

import { timingSafeEqual } from "node:crypto";
import { NO_LIMITS } from "../../agent/limits.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { Shelf } from "../../store/shelf.ts";
import { UNKNOWN_KEY } from "./credentials.ts";
import { ALL_SCOPES, type ClientKey, REMEMBERED_MS, stateOf } from "./key.ts";
import { findKey, hashToken, readKeyId } from "./keys.ts";

export interface KeyRing {
  /** Rejects with `unauthorized` a token that is not a key, or whose key is expired or revoked. */
  find(token: string): Promise<FoundClientKey>;
}

export interface FoundClientKey {
  readonly key: ClientKey;
  /** The key was read from the record a while ago, and is valid until then. */
  readonly untilMs: number;
}

interface KeyRingParts {
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** The key that is not in the record: the value of `OFFSHOOT_SERVER_KEY`. */
  readonly fixedToken: () => string | undefined;
}

const MAX_REMEMBERED = 1000;

export function createKeyRing({ shelf, clock, fixedToken }: KeyRingParts): KeyRing {
  const remembered = new Map<string, FoundClientKey>();

  async function look(token: string, hash: Buffer, nowMs: number): Promise<FoundClientKey> {
    const untilMs = nowMs + REMEMBERED_MS;
    const fixed = fixedToken();
    if (fixed && timingSafeEqual(hash, hashToken(fixed))) return { key: FIXED_KEY, untilMs };
    const id = readKeyId(token);
    const key = id === undefined ? undefined : await findKey(shelf, id);
    const isNew = isHash(hash, key?.hash);
    const isReplaced = isHash(hash, key?.replaced?.hash);
    if (isNew && key) return { key, untilMs };
    if (!isReplaced || !key?.replaced) {
      throw new Failure("unauthorized", UNKNOWN_KEY);
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

/** Takes the same time without a hash to compare with. */
function isHash(hash: Buffer, known: string = NO_HASH): boolean {
  return timingSafeEqual(hash, Buffer.from(known, "hex"));
}

/**
 * The process that sets the server's environment also runs the server, so this key may do everything.
 */
export const FIXED_KEY: ClientKey = {
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
