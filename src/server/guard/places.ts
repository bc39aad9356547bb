/** How many requests of a key are on their way at once: in one process, or counted for all by the one that started them. */

import { Failure } from "../../base/failure.ts";
import type { Key } from "./key.ts";

export interface Places {
  /** Takes a place; what it resolves with gives it back, once. Rejects with `rate_limited`. */
  take(key: PlacedKey): Promise<() => void>;
  /** Undefined where there is none. */
  tryTake(key: PlacedKey): Promise<(() => void) | undefined>;
}

type PlacedKey = Pick<Key, "id"> & { readonly limits: Pick<Key["limits"], "concurrent"> };

/** Takes a place of a key for a run; what it gives back ends it. Undefined where all are taken. */
export type EnterPlace = (keyId: string) => Promise<(() => void) | undefined>;

/** Who counts. */
export interface PlaceCount {
  /** Whether there was one of so many. */
  take(keyId: string, limit: number): boolean | Promise<boolean>;
  leave(keyId: string): void;
}

export function createPlaces(count: PlaceCount): Places {
  async function tryTake({ id, limits }: PlacedKey): Promise<(() => void) | undefined> {
    const { concurrent } = limits;
    if (concurrent === undefined) return () => {};
    if (!(await count.take(id, concurrent))) return undefined;
    let isTaken = true;
    return () => {
      if (isTaken) count.leave(id);
      isTaken = false;
    };
  }
  return {
    tryTake,
    async take(key) {
      const leave = await tryTake(key);
      if (leave) return leave;
      const { concurrent } = key.limits;
      const message = `This key may have ${concurrent} requests at once, and background responses that run count. Ask again when one has ended.`;
      throw new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
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
