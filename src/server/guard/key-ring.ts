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
import type { Shelf } from "../../store/shelf.ts";
import { ALL_SCOPES, type Key, stateOf } from "./key.ts";
import { DEFAULT_TENANT, findKey, hashToken, readKeyId } from "./keys.ts";

export interface KeyRing {
  /** Rejects with `unauthorized` what is no key, or one that is expired or revoked. */
  find(token: string): Promise<Key>;
}

interface KeyRingParts {
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** The one key that is no row: what `OFFSHOOT_SERVER_KEY` holds. */
  readonly fixedToken: () => string | undefined;
}

/** How long a revoked key may still work in another process. */
const REMEMBERED_MS = 2000;
const MAX_REMEMBERED = 1000;

export function createKeyRing({ shelf, clock, fixedToken }: KeyRingParts): KeyRing {
  const remembered = new Map<string, { readonly key: Key; readonly untilMs: number }>();

  async function look(token: string, hash: Buffer): Promise<Key> {
    const fixed = fixedToken();
    if (fixed && timingSafeEqual(hash, hashToken(fixed))) return FIXED_KEY;
    const id = readKeyId(token);
    const key = id === undefined ? undefined : await findKey(shelf, id);
    const known = Buffer.from(key?.hash ?? NO_HASH, "hex");
    if (timingSafeEqual(hash, known) && key) return key;
    throw new Failure("unauthorized", "The server does not know this key.");
  }

  return {
    async find(token) {
      const hash = hashToken(token);
      const name = hash.toString("base64");
      const nowMs = clock.now();
      let found = remembered.get(name);
      if (!found || found.untilMs <= nowMs) {
        remembered.delete(name);
        found = { key: await look(token, hash), untilMs: nowMs + REMEMBERED_MS };
        if (remembered.size >= MAX_REMEMBERED) forgetOldest(remembered);
        remembered.set(name, found);
      }
      const state = stateOf(found.key, nowMs);
      if (state === "active") return found.key;
      throw new Failure("unauthorized", `The key \`${found.key.id}\` is ${state}.`);
    },
  };
}

const NO_HASH = "0".repeat(64);

/** Whoever sets the server's environment runs the server. */
const FIXED_KEY: Key = {
  id: "environment",
  name: "OFFSHOOT_SERVER_KEY",
  tenant: DEFAULT_TENANT,
  hash: NO_HASH,
  scopes: ALL_SCOPES,
  models: null,
  catalogue: null,
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
