/**
 * The queue of writers to the file. A writer that comes alone writes at once. Those who come while
 * another has written in the same turn of the event loop, or while the file is locked, are written together, in one
 * transaction. Where many come one after the other, as the tokens of many streams do, those that need not wait for the
 * disk wait a few milliseconds for company. Those that need it wait while the disk is at work for others, and, where
 * several came at once, while the event loop is at work too: all that come meanwhile are one transaction, which writes a
 * page of an index once for all of them, and share the next wait for the disk.
 *
 * Where one of those who are written together fails, the transaction is undone and made again with a savepoint for
 * each, so that it fails alone. Savepoints for all of them would cost as much as the writing: SQLite copies each page
 * that it changes inside of one.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { BUSY_LIMIT_MS, whenFree } from "../../base/busy.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { Disk } from "./wal-disk.ts";

/** `process`: survives the end of the process. `power`: also a loss of power, for one wait for the disk. */
export type Durability = "process" | "power";

/**
 * Rejects with `store_busy` after `BUSY_LIMIT_MS`. No write overtakes another: events of a run come in their order. `work` is
 * done again where the transaction was undone: what it changes beside the database, it must be able to change again.
 */
export type WriteLine = <Out>(durability: Durability, work: () => Out) => Promise<Out>;

interface LineParts {
  readonly clock: Clock;
  /** Runs `work` as one transaction, which survives the process, or throws `store_busy`. */
  readonly transact: <Out>(work: () => Out) => Out;
  readonly disk: Pick<Disk, "sync" | "busy">;
  /** Resolves when the event loop has next to nothing to do, or at that moment of `performance.now()`. */
  readonly untilIdle?: (latestMs: number) => Promise<void>;
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
  /** Monotonic. */
  readonly cameMs: number;
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

/**
 * So long those that need the disk wait for the event loop at most. It is at work because others are on their way, and
 * they would be told no sooner without the wait: what tells them is the event loop.
 */
const COMPANY_MS = 8;
/** Where several came at once, others are expected for so long. */
const CROWD_MS = 100;
/** A turn of the event loop that was shorter had next to nothing to do. */
const IDLE_TURN_MS = 0.05;

/** Others have their turn after so long: writers of megabytes would keep the event loop from all else. */
const LONG_MS = 10;

export function createWriteLine(parts: LineParts): WriteLine {
  const waiting: Writer[] = [];
  /** Whether a writer has written in this turn of the event loop, or writers are on their way. */
  let isTaken = false;
  const pace = createPace();
  const crowd = createCrowd(parts);
  /** Ends the wait for company. */
  let hurry = (): void => {};

  async function empty(): Promise<void> {
    // All that come within this turn go together.
    await nextTurn();
    while (waiting.length > 0) {
      await gather();
      const settled = await writeTogether(parts, waiting);
      if (!needsDisk(settled)) pace.count();
      else crowd.count(settled.length);
      await nextTurn();
    }
    isTaken = false;
  }

  /** Waits for company, where that is worth it. */
  async function gather(): Promise<void> {
    const isFree = needsDisk(waiting) ? crowd.wait(waiting[0]?.cameMs) : pause(pace.waitMs());
    if (!isFree) return;
    const isHurried = new Promise<void>((resolve) => {
      hurry = resolve;
    });
    await Promise.race([isFree, isHurried]);
    hurry = () => {};
  }

  function enter<Out>(durability: Durability, work: () => Out): Promise<Out> {
    return new Promise((resolve, reject) => {
      waiting.push(toWriter(parts, { durability, work, resolve, reject }));
      // A token that may be written now does not wait for the disk of others, and takes them along.
      if (durability === "process" && pace.waitMs() <= 0) hurry();
      if (isTaken) return;
      isTaken = true;
      void empty();
    });
  }

  return async (durability, work) => {
    const hasCompany = durability === "power" ? crowd.isThere() : pace.waitMs() > 0;
    if (isTaken || hasCompany) return await enter(durability, work);
    isTaken = true;
    void empty();
    let value: ReturnType<typeof work>;
    try {
      value = parts.transact(work);
    } catch (thrown) {
      if (!isBusy(thrown)) throw thrown;
      return await enter(durability, work);
    }
    if (durability === "power") await parts.disk.sync();
    else pace.count();
    return value;
  };
}

interface Entering<Out> {
  readonly durability: Durability;
  readonly work: () => Out;
  readonly resolve: (value: Out) => void;
  readonly reject: (thrown: unknown) => void;
}

function toWriter<Out>(
  { clock, attempt }: LineParts,
  { durability, work, resolve, reject }: Entering<Out>,
): Writer {
  let tell = (): void => {};
  return {
    durability,
    deadlineMs: clock.now() + BUSY_LIMIT_MS,
    cameMs: performance.now(),
    work() {
      const value = work();
      tell = () => resolve(value);
    },
    attempt() {
      const done = attempt(work);
      tell = () => ("value" in done ? resolve(done.value) : reject(done.thrown));
    },
    settle: (thrown) => (thrown === undefined ? tell() : reject(thrown)),
  };
}

/** Resolves after so many milliseconds; undefined where there is nothing to wait for. */
function pause(ms: number): Promise<void> | undefined {
  return ms <= 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms));
}

/** Writes the first of those who wait, as many as are done within `LONG_MS`, and takes them out of the line. */
async function writeTogether(parts: LineParts, waiting: Writer[]): Promise<readonly Writer[]> {
  const { clock, disk } = parts;
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
  const isLater = (writer: Writer): boolean =>
    thrown === undefined && writer.durability === "power";
  for (const writer of settled) if (!isLater(writer)) writer.settle(thrown);
  const later = settled.filter(isLater);
  if (later.length > 0) settleAfter(disk.sync(), later);
  return settled;
}

/** Those that have to survive a loss of power are told when the disk has them. */
function settleAfter(synced: Promise<void>, writers: readonly Writer[]): void {
  const settle = (thrown?: unknown): void => {
    for (const writer of writers) writer.settle(thrown);
  };
  synced.then(() => settle(), settle);
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
      return transact(work);
    } catch (thrown) {
      // An error of the writer itself is not retried, even if it says that something was busy.
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
  /** How long those that need no disk wait for more; 0 or less for not at all. */
  waitMs(): number;
  /** Called for each transaction that was for such writers alone. */
  count(): void;
}

function createPace(): Pace {
  /** When the last of these transactions would be due, had each waited for the one before it. */
  let dueMs = 0;
  return {
    waitMs: () => dueMs - BURST * PACE_MS - performance.now(),
    count() {
      dueMs = Math.max(dueMs, performance.now()) + PACE_MS;
    },
  };
}

/** Those that need the disk. */
interface Crowd {
  /** True if one that comes now has company: of those who wait for the disk, or of others who are expected. */
  isThere(): boolean;
  /**
   * Resolves when the disk is no longer at work and all who are expected have come; undefined if there is no wait. The
   * first one came at `sinceMs`: while the disk was at work, it had company too.
   */
  wait(sinceMs: number | undefined): Promise<unknown> | undefined;
  /** Called for each transaction with the number of its writers. */
  count(writers: number): void;
}

function createCrowd({ disk, untilIdle = untilIdleTurn }: LineParts): Crowd {
  /** Until when others are expected. */
  let untilMs = 0;
  const isExpected = (): boolean => performance.now() < untilMs;
  return {
    isThere: () => disk.busy !== undefined || isExpected(),
    wait(sinceMs = performance.now()) {
      if (!isExpected()) return disk.busy;
      return Promise.all([disk.busy, untilIdle(sinceMs + COMPANY_MS)]);
    },
    count(writers) {
      if (writers > 1) untilMs = performance.now() + CROWD_MS;
    },
  };
}

/** Resolves after a turn of the event loop that had next to nothing to do, or at that moment. */
async function untilIdleTurn(latestMs: number): Promise<void> {
  for (let turnMs = performance.now(); turnMs < latestMs; ) {
    await nextTurn();
    const nowMs = performance.now();
    if (nowMs - turnMs < IDLE_TURN_MS) return;
    turnMs = nowMs;
  }
}

function needsDisk(writers: readonly Writer[]): boolean {
  return writers.some(({ durability }) => durability === "power");
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "store_busy";
}
