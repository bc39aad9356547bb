/**
 * Writes when each key was last used, once a minute at most: it is for people who look at a list.
 */

import type { Clock } from "../../base/clock.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { ClientKey } from "./key.ts";
import { noteUse } from "./keys.ts";

const EVERY_MS = 60_000;

export interface Uses {
  note(key: ClientKey): void;
}

export function createUses({ shelf, clock }: { shelf: Shelf; clock: Clock }): Uses {
  const noted = new Map<string, number>();
  return {
    note({ id, last_used_ms }) {
      const nowMs = clock.now();
      const last = noted.get(id) ?? last_used_ms ?? 0;
      if (nowMs - last < EVERY_MS) return;
      noted.set(id, nowMs);
      // If this write fails, no request fails.
      noteUse(shelf, id, nowMs).catch(() => {});
    },
  };
}
