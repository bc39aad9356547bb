/**
 * Counts the requests of a key that are in progress: each takes a place. A key without `concurrent` has no limit and
 * no count.
 */

import { Failure } from "../../base/failure.ts";
import type { LeavePlace, PlaceCount } from "../../store/place-count.ts";
import type { ClientKey } from "./key.ts";

export interface KeyPlaces {
  /**
   * Takes a place. The returned function gives it back, once. Rejects with `rate_limited` if all are taken. `end` is
   * called with the reason if the place is lost to another request.
   */
  take(key: PlacedKey, end: (reason: Failure) => void): Promise<LeavePlace>;
  /** Undefined if no place is free. */
  tryTake(key: PlacedKey): Promise<LeavePlace | undefined>;
}

type PlacedKey = Pick<ClientKey, "id"> & {
  readonly limits: Pick<ClientKey["limits"], "concurrent">;
};

export function createPlaces(count: PlaceCount): KeyPlaces {
  async function tryTake(
    { id, limits }: PlacedKey,
    onLost?: () => void,
  ): Promise<LeavePlace | undefined> {
    const { concurrent } = limits;
    return concurrent === undefined ? () => {} : await count.take(id, concurrent, onLost);
  }
  return {
    // A run needs no `end`: if this process stood still, another process owns the run by then.
    tryTake: (key) => tryTake(key),
    async take(key, end) {
      const leave = await tryTake(key, () => end(toLost(key)));
      if (leave) return leave;
      const { concurrent } = key.limits;
      const message = `This key may have ${concurrent} requests at once, including background responses. Try again when one has ended.`;
      throw new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
    },
  };
}

function toLost({ limits: { concurrent } }: PlacedKey): Failure {
  const message = `This server stood still for more than ten seconds. Another request took the place of this one: its key may have ${concurrent} at once. Try again.`;
  return new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
}

/** A fixed wait, because it is not known when a request in progress ends. */
const RETRY_MS = 1000;
