/**
 * Removes what has outlived its time. Every process does it, each minute and not at the same moment;
 * what another one has removed meanwhile is not there, which is all that is asked for.
 *
 * It goes in pages, each one transaction. Their size follows the time that they take, and everything
 * else that waits for the event loop has its turn between two of them.
 */

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { nextTurn } from "../../base/turn.ts";
import type { Engine } from "../../engine/engine.ts";
import { doomResponse } from "../../responses/api/api.ts";
import { RESPONSE_BODY, RESPONSE_KIND } from "../../responses/kept/kept-response.ts";
import type { DoomedThing, OrphanSearch, Shelf, ThingName } from "../../store/shelf.ts";
import type { Books } from "./books.ts";
import { createPageSize } from "./page-size.ts";

interface SweepParts {
  readonly shelf: Shelf;
  readonly durable: Engine;
  /** Removes what was made of a thing elsewhere: chunks of a vector store, places of a file in them. */
  readonly expire?: ((thing: ThingName) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Lets others have their turn; in tests, tells that they had it. */
  readonly yieldTurn?: (() => Promise<void>) | undefined;
  /** Whether the process is about to close the store: what is left is for the next time. */
  readonly isOver?: (() => boolean) | undefined;
}

/** So many that cannot be removed have one reason, and it is not theirs. */
const MAX_LEFT = 1000;

/** Returns how many things were removed. One that cannot be is left for the next time. */
export async function sweep(parts: SweepParts): Promise<number> {
  const { shelf, clock, log, yieldTurn = nextTurn, isOver = () => false } = parts;
  const page = createPageSize();
  /** Those that could not be removed. */
  const left = new Set<string>();
  const leave = (thing: ThingName, thrown: unknown): void => {
    left.add(toText(thing));
    log.warn(`${thing.kind} ${thing.id} could not be removed: ${String(thrown)}`);
  };
  let removed = 0;
  while (left.size < MAX_LEFT && !isOver()) {
    const listed = await shelf.listExpired(clock.now(), page.size + left.size);
    const expired = listed.filter((thing) => !left.has(toText(thing))).slice(0, page.size);
    if (expired.length === 0) break;
    await page.time(async () => {
      const doomed: DoomedThing[] = [];
      for (const thing of expired) {
        try {
          doomed.push(await prepare(parts, thing));
        } catch (thrown) {
          leave(thing, thrown);
        }
      }
      removed += await removeAll(shelf, doomed, leave);
    });
    await yieldTurn();
  }
  let leftovers = 0;
  while (!isOver() && (await shelf.removeLeftover())) {
    leftovers++;
    await yieldTurn();
  }
  if (removed + leftovers > 0) while (!isOver() && (await shelf.giveBack())) await yieldTurn();
  return removed;
}

/** What is made of a thing elsewhere goes first: after a crash the thing is still there to be found. */
async function prepare({ durable, expire }: SweepParts, thing: ThingName): Promise<DoomedThing> {
  await expire?.(thing);
  const { tenant, kind, id } = thing;
  return kind === RESPONSE_KIND ? await doomResponse(durable, tenant, id) : { tenant, kind, id };
}

/** Together, and one by one where one of them cannot be removed. */
async function removeAll(
  shelf: Shelf,
  doomed: readonly DoomedThing[],
  leave: (thing: ThingName, thrown: unknown) => void,
): Promise<number> {
  try {
    // What a power cut brings back has still outlived its time.
    await shelf.removeAll(doomed, "process");
    return doomed.length;
  } catch (thrown) {
    const [only] = doomed;
    if (only && doomed.length === 1) {
      leave(only, thrown);
      return 0;
    }
  }
  let removed = 0;
  for (const thing of doomed) removed += await removeAll(shelf, [thing], leave);
  return removed;
}

function toText({ tenant, kind, id }: ThingName): string {
  return JSON.stringify([tenant, kind, id]);
}

/** Put when the search is over: nothing makes orphans any more, so once is enough for a file. */
const ORPHANS_DONE = { tenant: "", kind: "done", id: "orphan-runs", parent: null };

/**
 * Versions before this one removed a response and its run one after the other, and a crash between the
 * two left the run for ever. Looks through the record once, in pages, and removes those.
 */
export async function removeOrphans({
  shelf,
  clock,
  yieldTurn = nextTurn,
  isOver = () => false,
}: Pick<SweepParts, "shelf" | "clock" | "yieldTurn" | "isOver">): Promise<void> {
  if (await shelf.get(ORPHANS_DONE)) return;
  const [name, kind] = [RESPONSE_BODY, RESPONSE_KIND];
  const page = createPageSize();
  let after: number | undefined = 0;
  while (after !== undefined) {
    const search: OrphanSearch = {
      name,
      kind,
      runPrefix: "run_",
      thingPrefix: "resp_",
      after,
      limit: page.size,
    };
    after = await page.time(() => shelf.removeOrphans(search));
    await yieldTurn();
    if (isOver()) return;
  }
  await shelf.put({ ...ORPHANS_DONE, body: {}, created_at_ms: clock.now(), expires_at_ms: null });
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
