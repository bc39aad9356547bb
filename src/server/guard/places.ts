/** A place for each request of a key that is on its way. A key without `concurrent` has as many as it wants, and no count. */

import { Failure } from "../../base/failure.ts";
import type { LeavePlace, PlaceCount } from "../../store/places.ts";
import type { Key } from "./key.ts";

export interface Places {
  /** Takes a place; what it resolves with gives it back, once. Rejects with `rate_limited`. */
  take(key: PlacedKey): Promise<LeavePlace>;
  /** Undefined where there is none. */
  tryTake(key: PlacedKey): Promise<LeavePlace | undefined>;
}

type PlacedKey = Pick<Key, "id"> & { readonly limits: Pick<Key["limits"], "concurrent"> };

/** Takes a place of a key for a run; what it gives back ends it. Undefined where all are taken. */
export type EnterPlace = (keyId: string) => Promise<LeavePlace | undefined>;

export function createPlaces(count: PlaceCount): Places {
  async function tryTake({ id, limits }: PlacedKey): Promise<LeavePlace | undefined> {
    const { concurrent } = limits;
    return concurrent === undefined ? () => {} : await count.take(id, concurrent);
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
