/** When keys were used last, written down once a minute at most: it is for people who look at a list. */

import type { Clock } from "../../base/clock.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Key } from "./key.ts";
import { noteUse } from "./keys.ts";

const EVERY_MS = 60_000;

export interface Uses {
  note(key: Key): void;
}

export function createUses({ shelf, clock }: { shelf: Shelf; clock: Clock }): Uses {
  const noted = new Map<string, number>();
  return {
    note({ id, last_used_ms }) {
      const nowMs = clock.now();
      const last = noted.get(id) ?? last_used_ms ?? 0;
      if (nowMs - last < EVERY_MS) return;
      noted.set(id, nowMs);
      // No request fails because this was not written.
      noteUse(shelf, id, nowMs).catch(() => {});
    },
  };
}
