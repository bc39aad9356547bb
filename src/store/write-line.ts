/**
 * The line of those who want to write to the file. Whoever comes alone writes at once. Those who come while
 * another has written in the same turn of the event loop, or while the file is locked, are written together:
 * one transaction for all of them, and one wait for the disk.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { BUSY_LIMIT_MS, whenFree } from "../base/busy.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";

/**
 * `process`: survives the end of the process. `power`: also the end of power, for one fsync: 0.2 ms
 * against 0.02 ms a commit of 200 bytes on a cloud disk.
 */
export type Durability = "process" | "power";

/** Rejects with `store_busy` after `BUSY_LIMIT_MS`. Nobody overtakes: events of a run come in their order. */
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
  /** Does its work; what came of it is told once the transaction is written. */
  work(): void;
  /** Called with what became of the transaction. */
  settle(thrown: unknown): void;
}

/** Others have their turn after so long: writers of megabytes would keep the event loop from all else. */
const LONG_MS = 10;

export function createWriteLine(parts: LineParts): WriteLine {
  const waiting: Writer[] = [];
  /** Whether somebody has written in this turn of the event loop, or writers are on their way. */
  let isTaken = false;

  async function empty(): Promise<void> {
    // All that come within this turn go together.
    await nextTurn();
    while (waiting.length > 0) {
      await writeTogether(parts, waiting);
      await nextTurn();
    }
    isTaken = false;
  }

  function enter<Out>(durability: Durability, work: () => Out): Promise<Out> {
    return new Promise((resolve, reject) => {
      let tell = (): void => {};
      waiting.push({
        durability,
        deadlineMs: parts.clock.now() + BUSY_LIMIT_MS,
        work() {
          const done = parts.attempt(work);
          tell = () => ("value" in done ? resolve(done.value) : reject(done.thrown));
        },
        settle: (thrown) => (thrown === undefined ? tell() : reject(thrown)),
      });
      if (isTaken) return;
      isTaken = true;
      void empty();
    });
  }

  return async (durability, work) => {
    if (!isTaken) {
      isTaken = true;
      void empty();
      try {
        return parts.transact(durability, work);
      } catch (thrown) {
        if (!isBusy(thrown)) throw thrown;
      }
    }
    return await enter(durability, work);
  };
}

/** Writes the first of those who wait, as many as are done within `LONG_MS`, and takes them out of the line. */
async function writeTogether({ transact, clock }: LineParts, waiting: Writer[]): Promise<void> {
  const [first] = waiting;
  if (!first) return;
  let done = 0;
  const work = (): void => {
    const startedMs = performance.now();
    for (done = 0; done < waiting.length; ) {
      waiting[done++]?.work();
      if (performance.now() - startedMs > LONG_MS) return;
    }
  };
  let thrown: unknown;
  try {
    await whenFree(() => transact(strongest(waiting), work), clock, first.deadlineMs);
  } catch (cause) {
    thrown = cause;
    // One whose time is over is told so; the others still have some.
    if (isBusy(cause)) done = waiting.filter(({ deadlineMs }) => deadlineMs <= clock.now()).length;
  }
  for (const { settle } of waiting.splice(0, Math.max(done, 1))) settle(thrown);
}

function strongest(waiting: readonly Writer[]): Durability {
  return waiting.some(({ durability }) => durability === "power") ? "power" : "process";
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "store_busy";
}
