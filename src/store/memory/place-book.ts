/** The places of keys in the memory of one process, for itself or for those that it has started. */

import type { PlaceCount } from "../place-count.ts";

export interface PlaceBook<Owner> {
  /** False if all `limit` places are taken. */
  take(owner: Owner, keyId: string, limit: number): boolean;
  leave(owner: Owner, keyId: string): void;
  /** Returns all places of an owner that is gone. */
  forget(owner: Owner): void;
}

export function createPlaceBook<Owner>(): PlaceBook<Owner> {
  /** For each key: which owner has how many. */
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
    take(owner, keyId, limit) {
      let all = 0;
      for (const count of taken.get(keyId)?.values() ?? []) all += count;
      if (all >= limit) return false;
      add(keyId, owner, 1);
      return true;
    },
    leave: (owner, keyId) => add(keyId, owner, -1),
    forget(owner) {
      for (const [keyId, owners] of taken) {
        const count = owners.get(owner) ?? 0;
        if (count > 0) add(keyId, owner, -count);
      }
    },
  };
}

/** One owner's part of a book. */
export function countInBook<Owner>(book: PlaceBook<Owner>, owner: Owner): PlaceCount {
  return {
    async take(keyId, limit) {
      if (!book.take(owner, keyId, limit)) return undefined;
      let isTaken = true;
      return () => {
        if (isTaken) book.leave(owner, keyId);
        isTaken = false;
      };
    },
  };
}
