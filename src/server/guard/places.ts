/** How many requests of a key are on their way in this process. */

import { Failure } from "../../base/failure.ts";
import type { Key } from "./key.ts";

export interface Places {
  /** Takes a place; what it returns gives it back, once. Rejects with `rate_limited`. */
  take(key: Key): () => void;
}

export function createPlaces(): Places {
  const taken = new Map<string, number>();
  const add = (id: string, count: number): void => {
    const now = (taken.get(id) ?? 0) + count;
    if (now === 0) taken.delete(id);
    else taken.set(id, now);
  };
  return {
    take({ id, limits: { concurrent } }) {
      if (concurrent !== undefined && (taken.get(id) ?? 0) >= concurrent) {
        const message = `This key may have ${concurrent} requests on their way at once.`;
        throw new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
      }
      add(id, 1);
      let isTaken = true;
      return () => {
        if (isTaken) add(id, -1);
        isTaken = false;
      };
    },
  };
}

/** Nobody knows when one ends. */
const RETRY_MS = 1000;
