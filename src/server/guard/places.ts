/** A place for each request of a key that is on its way. A key without `concurrent` has as many as it wants, and no count. */

import { Failure } from "../../base/failure.ts";
import type { LeavePlace, PlaceCount } from "../../store/places.ts";
import type { Key } from "./key.ts";

export interface Places {
  /**
   * Takes a place; what it resolves with gives it back, once. Rejects with `rate_limited`. `end` is called with the
   * reason where the place went to somebody else.
   */
  take(key: PlacedKey, end: (reason: Failure) => void): Promise<LeavePlace>;
  /** Undefined where there is none. */
  tryTake(key: PlacedKey): Promise<LeavePlace | undefined>;
}

type PlacedKey = Pick<Key, "id"> & { readonly limits: Pick<Key["limits"], "concurrent"> };

/** Takes a place of a key for a run; what it gives back ends it. Undefined where all are taken. */
export type EnterPlace = (keyId: string) => Promise<LeavePlace | undefined>;

export function createPlaces(count: PlaceCount): Places {
  async function tryTake(
    { id, limits }: PlacedKey,
    onLost?: () => void,
  ): Promise<LeavePlace | undefined> {
    const { concurrent } = limits;
    return concurrent === undefined ? () => {} : await count.take(id, concurrent, onLost);
  }
  return {
    // A run has an owner of its own: one whose process stood still is another one's by then.
    tryTake: (key) => tryTake(key),
    async take(key, end) {
      const leave = await tryTake(key, () => end(toLost(key)));
      if (leave) return leave;
      const { concurrent } = key.limits;
      const message = `This key may have ${concurrent} requests at once, and background responses that run count. Ask again when one has ended.`;
      throw new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
    },
  };
}

function toLost({ limits: { concurrent } }: PlacedKey): Failure {
  const message = `This server stood still for more than ten seconds. The place of this request among the ${concurrent} that its key may have at once went to another one. Ask again.`;
  return new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
}

/** Nobody knows when one ends. */
const RETRY_MS = 1000;
