/** How many requests of a key are on their way at once: in one process, or counted for all by the one that started them. */

import { Failure } from "../../base/failure.ts";
import type { Key } from "./key.ts";

export interface Places {
  /** Takes a place; what it resolves with gives it back, once. Rejects with `rate_limited`. */
  take(key: Key): Promise<() => void>;
}

/** Who counts. */
export interface PlaceCount {
  /** Whether there was one of so many. */
  take(keyId: string, limit: number): boolean | Promise<boolean>;
  leave(keyId: string): void;
}

export function createPlaces(count: PlaceCount): Places {
  return {
    async take({ id, limits: { concurrent } }) {
      if (concurrent === undefined) return () => {};
      if (!(await count.take(id, concurrent))) {
        const message = `This key may have ${concurrent} requests on their way at once.`;
        throw new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
      }
      let isTaken = true;
      return () => {
        if (isTaken) count.leave(id);
        isTaken = false;
      };
    },
  };
}

/** Nobody knows when one ends. */
const RETRY_MS = 1000;

export interface PlaceBook<Owner> {
  /** A count of this owner's, within what all owners have. */
  of(owner: Owner): PlaceCount;
  /** Gives back all that an owner has: it is gone. */
  forget(owner: Owner): void;
}

export function createPlaceBook<Owner>(): PlaceBook<Owner> {
  /** By key, who has how many. */
  const taken = new Map<string, Map<Owner, number>>();

  function add(keyId: string, owner: Owner, more: number): void {
    const owners = taken.get(keyId) ?? new Map<Owner, number>();
    const now = (owners.get(owner) ?? 0) + more;
    if (now > 0) owners.set(owner, now);
    else owners.delete(owner);
    if (owners.size > 0) taken.set(keyId, owners);
    else taken.delete(keyId);
  }
  return {
    of: (owner) => ({
      take(keyId, limit) {
        let all = 0;
        for (const count of taken.get(keyId)?.values() ?? []) all += count;
        if (all >= limit) return false;
        add(keyId, owner, 1);
        return true;
      },
      leave: (keyId) => add(keyId, owner, -1),
    }),
    forget(owner) {
      for (const [keyId, owners] of taken) {
        const count = owners.get(owner) ?? 0;
        if (count > 0) add(keyId, owner, -count);
      }
    },
  };
}
