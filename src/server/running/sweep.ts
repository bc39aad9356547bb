/**
 * Removes what has outlived its time. Every process does it, each minute and not at the same moment;
 * what another one has removed meanwhile is not there, which is all that is asked for.
 */

import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { removeResponse } from "../../responses/api.ts";
import type { RunPlace } from "../../responses/fold/read-response.ts";
import { RESPONSE_KIND } from "../../responses/kept-response.ts";
import type { Shelf, Thing } from "../../store/shelf.ts";
import type { Books } from "./books.ts";

interface SweepParts {
  readonly shelf: Shelf;
  readonly durable: RunPlace;
  /** Removes what was made of a thing elsewhere: chunks of a vector store, places of a file in them. */
  readonly expire?: ((thing: Thing) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is looked for at once. */
const PAGE = 50;

/** Returns how much was removed. One that cannot be is left for the next time. */
export async function sweep({ shelf, durable, expire, clock, log }: SweepParts): Promise<number> {
  let removed = 0;
  for (;;) {
    const expired = await shelf.listExpired(clock.now(), PAGE);
    const before = removed;
    for (const thing of expired) {
      // The store works on the event loop's own time: without a pause nobody else has a turn until all are gone.
      await setImmediate();
      try {
        await expire?.(thing);
        await remove({ shelf, durable }, thing);
        removed++;
      } catch (thrown) {
        log.warn(`${thing.kind} ${thing.id} could not be removed: ${String(thrown)}`);
      }
    }
    if (expired.length < PAGE || removed === before) return removed;
  }
}

async function remove(
  parts: Pick<SweepParts, "shelf" | "durable">,
  { tenant, kind, id }: Thing,
): Promise<void> {
  if (kind === RESPONSE_KIND) await removeResponse(parts, tenant, id);
  else await parts.shelf.delete({ tenant, kind, id });
}

interface BookSweepParts extends Pick<Books, "audit" | "spending"> {
  /** How long entries of the audit are kept; null for ever. */
  readonly auditKeptMs: number | null;
  readonly clock: Clock;
}

/** Counts of minutes that are over are of no use. */
const SPENDING_KEPT_MS = 3_600_000;

export async function sweepBooks(parts: BookSweepParts): Promise<void> {
  const { audit, spending, auditKeptMs, clock } = parts;
  const nowMs = clock.now();
  await spending.prune(nowMs - SPENDING_KEPT_MS);
  if (auditKeptMs !== null) await audit.prune(nowMs - auditKeptMs);
}
