/**
 * The line of those who want to write to the file. Whoever comes alone writes at once. Those who come while
 * another has written in the same turn of the event loop, or while the file is locked, are written together:
 * one transaction for all of them, and one wait for the disk. Where many come one after the other, as the
 * tokens of many streams do, those that need not wait for the disk wait a few milliseconds for company;
 * and those that had company wait for as much of it as last time, for no longer than the disk took.
 *
 * Where one of those who are written together fails, the transaction is undone and made again with a savepoint for
 * each, so that it fails alone. Savepoints for all of them would cost as much as the writing: SQLite copies each page
 * that it changes inside of one.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { BUSY_LIMIT_MS, whenFree } from "../../base/busy.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";

/**
 * `process`: survives the end of the process. `power`: also the end of power, for one fsync: 0.2 ms
 * against 0.02 ms a commit of 200 bytes on a cloud disk.
 */
export type Durability = "process" | "power";

/**
 * Rejects with `store_busy` after `BUSY_LIMIT_MS`. Nobody overtakes: events of a run come in their order. `work` is
 * done again where the transaction was undone: what it changes beside the database, it must be able to change again.
 */
export type WriteLine = <Out>(durability: Durability, work: () => Out) => Promise<Out>;

interface LineParts {
  readonly clock: Clock;
  /** Runs `work` as one transaction, or throws `store_busy`. */
  readonly transact: <Out>(durability: Durability, work: () => Out) => Out;
  /**
   * Runs a part of a transaction that can be undone alone, and gives what it throws. Throws itself where
   * the whole transaction is lost.
   */
  readonly attempt: <Out>(work: () => Out) => Attempt<Out>;
}

export type Attempt<Out> = { readonly value: Out } | { readonly thrown: unknown };

/** One that waits. */
interface Writer {
  readonly durability: Durability;
  readonly deadlineMs: number;
  /** Does its work; what came of it is told once the transaction is written. Throws what the work throws. */
  work(): void;
  /** The same, so that it can be undone alone: what the work throws is told, too. */
  attempt(): void;
  /** Called with what became of the transaction. */
  settle(thrown: unknown): void;
}

/** One transaction in so long, where they keep coming: what a token is shown later than it came, at most. */
const PACE_MS = 4;
/** So many of them may come at once before anybody waits: a stream or two are shown at once. */
const BURST = 10;

/** Others have their turn after so long: writers of megabytes would keep the event loop from all else. */
const LONG_MS = 10;

export function createWriteLine(parts: LineParts): WriteLine {
  const waiting: Writer[] = [];
  /** Whether somebody has written in this turn of the event loop, or writers are on their way. */
  let isTaken = false;
  const pace = createPace();
  /** Ends the wait for company. */
  let hurry = (): void => {};

  async function empty(): Promise<void> {
    // All that come within this turn go together.
    await nextTurn();
    while (waiting.length > 0) {
      await gather();
      const durability = strongest(waiting);
      const startedMs = performance.now();
      const count = await writeTogether(parts, waiting);
      pace.count(durability, count, performance.now() - startedMs);
      await nextTurn();
    }
    isTaken = false;
  }

  /** Waits for company, where that is worth it. */
  async function gather(): Promise<void> {
    const ms = pace.waitMs(strongest(waiting), waiting.length);
    if (ms <= 0) return;
    await new Promise<void>((resolve) => {
      hurry = resolve;
      setTimeout(resolve, ms);
    });
    hurry = () => {};
  }

  function enter<Out>(durability: Durability, work: () => Out): Promise<Out> {
    return new Promise((resolve, reject) => {
      let tell = (): void => {};
      waiting.push({
        durability,
        deadlineMs: parts.clock.now() + BUSY_LIMIT_MS,
        work() {
          const value = work();
          tell = () => resolve(value);
        },
        attempt() {
          const done = parts.attempt(work);
          tell = () => ("value" in done ? resolve(done.value) : reject(done.thrown));
        },
        settle: (thrown) => (thrown === undefined ? tell() : reject(thrown)),
      });
      if (pace.waitMs(strongest(waiting), waiting.length) <= 0) hurry();
      if (isTaken) return;
      isTaken = true;
      void empty();
    });
  }

  return async (durability, work) => {
    if (!isTaken && pace.waitMs(durability, 1) <= 0) {
      isTaken = true;
      void empty();
      pace.count(durability, 1, 0);
      try {
        return parts.transact(durability, work);
      } catch (thrown) {
        if (!isBusy(thrown)) throw thrown;
      }
    }
    return await enter(durability, work);
  };
}

/** Writes the first of those who wait, as many as are done within `LONG_MS`, takes them out of the line and counts them. */
async function writeTogether(parts: LineParts, waiting: Writer[]): Promise<number> {
  const { clock } = parts;
  let written = await writeGroup(parts, waiting, (writer) => writer.work());
  if (written.hasFailed) {
    written = await writeGroup(parts, waiting, (writer) => writer.attempt());
  }
  let { done } = written;
  const { thrown, hasFailed } = written;
  // One whose time is over is told so; the others still have some.
  if (isBusy(thrown) && !hasFailed)
    done = waiting.filter(({ deadlineMs }) => deadlineMs <= clock.now()).length;
  const settled = waiting.splice(0, Math.max(done, 1));
  for (const { settle } of settled) settle(thrown);
  return settled.length;
}

interface WrittenGroup {
  readonly done: number;
  /** Why the transaction was not written. */
  readonly thrown?: unknown;
  /** Whether that is because of one of the writers. */
  readonly hasFailed: boolean;
}

/** Writes as many of those who wait, from the first one on, as are done within `LONG_MS`. Takes none out of the line. */
async function writeGroup(
  { transact, clock }: LineParts,
  waiting: readonly Writer[],
  writeOne: (writer: Writer) => void,
): Promise<WrittenGroup> {
  let done = 0;
  let hasFailed = false;
  const work = (): void => {
    const startedMs = performance.now();
    hasFailed = true;
    for (done = 0; done < waiting.length; ) {
      const writer = waiting[done++];
      if (writer) writeOne(writer);
      if (performance.now() - startedMs > LONG_MS) break;
    }
    hasFailed = false;
  };
  const write = (): unknown => {
    try {
      return transact(strongest(waiting), work);
    } catch (thrown) {
      // What a writer throws is no reason to wait, also where it says that something was busy.
      if (hasFailed) return thrown;
      throw thrown;
    }
  };
  try {
    const thrown = await whenFree(write, clock, waiting[0]?.deadlineMs);
    return { done, thrown, hasFailed };
  } catch (thrown) {
    return { done, thrown, hasFailed };
  }
}

interface Pace {
  /** How long so many that want to write wait for more; 0 or less for not at all. */
  waitMs(durability: Durability, count: number): number;
  /** Called for each transaction, with how many it was for and what it took. */
  count(durability: Durability, company: number, tookMs: number): void;
}

function createPace(): Pace {
  /** When the last one that was not for the disk would be due, had each waited for the one before it. */
  let dueMs = 0;
  /** How many were written together last time, and until when as many are waited for. */
  let company = 1;
  let restUntilMs = 0;
  return {
    waitMs(durability, count) {
      if (durability === "process") return dueMs - BURST * PACE_MS - performance.now();
      return count >= company ? 0 : restUntilMs - performance.now();
    },
    count(durability, count, tookMs) {
      const nowMs = performance.now();
      if (durability === "process") {
        dueMs = Math.max(dueMs, nowMs) + PACE_MS;
        return;
      }
      company = count;
      // Who came alone has nobody to wait for.
      restUntilMs = count > 1 ? nowMs + Math.min(tookMs, LONG_MS) : 0;
    },
  };
}

function strongest(waiting: readonly Writer[]): Durability {
  return waiting.some(({ durability }) => durability === "power") ? "power" : "process";
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "store_busy";
}
