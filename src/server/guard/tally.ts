/**
 * The use of keys that have no limit for it: added up in memory and written once a second, because one write for each
 * request would cost more than many requests do. A killed process loses the last second of it. The use of keys with
 * limits is booked at once, and that of stored responses with their endings.
 */

import type { Clock } from "../../base/clock.ts";
import type { Amounts, Spending } from "../../store/spending.ts";

export interface Tally {
  add(keyId: string, used: Used): void;
  /** Writes what was added since the last write. */
  flush(): Promise<void>;
}

type Used = Partial<Amounts>;

const FLUSH_MS = 1000;

export function createTally({ spending, clock }: { spending: Spending; clock: Clock }): Tally {
  let added = new Map<string, Amounts>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const full = added;
    added = new Map();
    const nowMs = clock.now();
    try {
      for (const [keyId, used] of full) {
        await spending.settle(keyId, used, { takenMs: nowMs, nowMs });
        full.delete(keyId);
      }
    } catch (thrown) {
      // Nothing of the failed one was written: it waits for the next write, with those after it.
      for (const [keyId, used] of full) put(keyId, used);
      throw thrown;
    }
  }

  function put(keyId: string, { requests = 0, tokens = 0, usd = 0, unpriced = 0 }: Used): void {
    const before = added.get(keyId) ?? { requests: 0, tokens: 0, usd: 0, unpriced: 0 };
    added.set(keyId, {
      requests: before.requests + requests,
      tokens: before.tokens + tokens,
      usd: before.usd + usd,
      unpriced: before.unpriced + unpriced,
    });
  }

  return {
    add(keyId, used) {
      put(keyId, used);
      // If this write fails, no request fails, and the next one tries again.
      timer ??= setTimeout(() => void flush().catch(() => {}), FLUSH_MS).unref();
    },
    flush,
  };
}
