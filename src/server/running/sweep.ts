/**
 * Removes expired data. Every process does so once a minute, at different moments. Data that another process has
 * removed meanwhile is gone, which is all that is needed.
 *
 * It works in pages, each in one transaction. Their size follows the time that they take, and other work of the event
 * loop has its turn between two pages.
 */

import { performance } from "node:perf_hooks";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { nextTurn } from "../../base/turn.ts";
import type { Engine } from "../../engine/engine.ts";
import { doomResponse } from "../../responses/api/api.ts";
import { RESPONSE_BODY, RESPONSE_KIND } from "../../responses/kept/kept-response.ts";
import type { DoomedThing, OrphanSearch, Shelf, ThingName } from "../../store/shelf.ts";
import type { Books } from "./books.ts";

interface SweepParts {
  readonly shelf: Shelf;
  readonly durable: Engine;
  /**
   * Removes what was made of a thing elsewhere: chunks of a vector store, a file's places in vector stores. Called
   * before the thing is removed, and after: a vector store may be given the file in between.
   */
  readonly expire?: ((thing: ThingName, expiredBy: number) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Lets other work have its turn. Tests notice by it that it did. */
  readonly yieldTurn?: (() => Promise<void>) | undefined;
  /** True if the process is about to close the store: the rest is left for the next sweep. */
  readonly isOver?: (() => boolean) | undefined;
}

/** If this many things cannot be removed, the cause is not in the things. */
const MAX_LEFT = 1000;

/**
 * Returns how many things were removed. A thing that cannot be removed is left for the next sweep.
 */
export async function sweep(parts: SweepParts): Promise<number> {
  const { shelf, clock, log, yieldTurn = nextTurn, isOver = () => false } = parts;
  const page = createPageSize();
  /** Things that could not be removed. */
  const left = new Set<string>();
  const leave = (thing: ThingName, thrown: unknown): void => {
    left.add(toText(thing));
    log.warn(`${thing.kind} ${thing.id} could not be removed: ${String(thrown)}`);
  };
  let removed = 0;
  while (left.size < MAX_LEFT && !isOver()) {
    const nowMs = clock.now();
    const listed = await shelf.listExpired(nowMs, page.size + left.size);
    const expired = listed.filter((thing) => !left.has(toText(thing))).slice(0, page.size);
    if (expired.length === 0) break;
    await page.time(async () => {
      const doomed: DoomedThing[] = [];
      for (const thing of expired) {
        try {
          doomed.push(await prepare(parts, thing, nowMs));
        } catch (thrown) {
          leave(thing, thrown);
        }
      }
      removed += await removeAll(shelf, doomed, leave);
      for (const thing of doomed) await forgetAgain(parts, thing, nowMs);
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

/**
 * Data that was made of a thing is removed before the thing: after a crash, the thing is still there and is found
 * again.
 */
async function prepare(
  { durable, expire }: SweepParts,
  thing: ThingName,
  nowMs: number,
): Promise<DoomedThing> {
  await expire?.(thing, nowMs);
  const { tenant, kind, id } = thing;
  if (kind === RESPONSE_KIND) return await doomResponse(durable, tenant, id);
  return { tenant, kind, id, expiredBy: nowMs };
}

/** The thing is gone and is not found again, so a failure is only reported. */
async function forgetAgain(
  { expire, log }: SweepParts,
  thing: ThingName,
  nowMs: number,
): Promise<void> {
  try {
    await expire?.(thing, nowMs);
  } catch (thrown) {
    log.warn(`What was made of ${thing.kind} ${thing.id} may be left: ${String(thrown)}`);
  }
}

/** Removes all together. If one cannot be removed, removes them one by one. */
async function removeAll(
  shelf: Shelf,
  doomed: readonly DoomedThing[],
  leave: (thing: ThingName, thrown: unknown) => void,
): Promise<number> {
  try {
    // If a power cut brings them back, they are still expired and the next sweep removes them.
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

/**
 * Stored when the search is complete. No version makes orphans any more, so each file is searched once.
 */
const ORPHANS_DONE = { tenant: "", kind: "done", id: "orphan-runs", parent: null };

/**
 * Removes runs whose response is gone. Earlier versions removed a response and its run one after the other, and a
 * crash between the two left the run for ever. Looks through the record once, in pages.
 */
export async function removeOrphans({
  shelf,
  clock,
  yieldTurn = nextTurn,
  isOver = () => false,
}: Pick<SweepParts, "shelf" | "clock" | "yieldTurn" | "isOver">): Promise<void> {
  if (await shelf.get(ORPHANS_DONE)) return;
  const name = RESPONSE_BODY;
  const kind = RESPONSE_KIND;
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

/** Counts of past minutes are of no use. */
const SPENDING_KEPT_MS = 3_600_000;

export async function sweepBooks(parts: BookSweepParts): Promise<void> {
  const { audit, spending, auditKeptMs, clock } = parts;
  const nowMs = clock.now();
  await spending.prune(nowMs - SPENDING_KEPT_MS);
  if (auditKeptMs !== null) await audit.prune(nowMs - auditKeptMs);
}

/** Learns how much to do between two moments in which other work has its turn, by measuring. */
const FIRST_SIZE = 8;
const MAX_SIZE = 256;
/** A page that takes longer is followed by a smaller one: other work waits this long. */
const MAX_MS = 10;
/** A page that is faster than this is followed by a larger one. */
const MIN_MS = 3;

interface PageSize {
  readonly size: number;
  /** Does the work of one page, and adapts the size to the time it took. */
  time<Out>(work: () => Promise<Out>): Promise<Out>;
}

function createPageSize(now: () => number = () => performance.now()): PageSize {
  let size = FIRST_SIZE;
  return {
    get size() {
      return size;
    },
    async time(work) {
      const startedMs = now();
      const result = await work();
      const tookMs = now() - startedMs;
      if (tookMs > MAX_MS) size = Math.max(1, Math.floor(size / 2));
      else if (tookMs < MIN_MS) size = Math.min(MAX_SIZE, size * 2);
      return result;
    },
  };
}
