/**
 * The owner's pen for one run's log: gives out the numbers and appends in their order. Events are
 * published only after they are in the store, so that no reader sees what a crash could take back.
 */

import type { RunEvent } from "../protocol/run-events.ts";

export interface RunLog {
  /** The number after the last event in the store. */
  readonly next: number;
  /** Resolves with the last event's number once it is in the store. Need not be awaited. */
  emit(events: readonly RunEvent[]): Promise<number>;
  /** Resolves when everything emitted is in the store; rejects if any of it was refused. */
  settled(): Promise<unknown>;
}

interface RunLogOptions {
  readonly next: number;
  append(firstSeq: number, events: readonly RunEvent[]): Promise<void>;
  publish(firstSeq: number, events: readonly RunEvent[]): void;
}

export function createRunLog({ next: start, append, publish }: RunLogOptions): RunLog {
  let stored = start;
  let next = start;
  let tail: Promise<number> = Promise.resolve(start - 1);

  return {
    get next() {
      return stored;
    },
    emit(events) {
      const first = next;
      next += events.length;
      // A refused append rejects all that follow it with the same failure: no number is skipped.
      tail = tail.then(() => write(first, events));
      // Whoever does not await an event still learns of its failure from `settled`.
      tail.catch(() => {});
      return tail;
    },
    settled: () => tail,
  };

  async function write(first: number, events: readonly RunEvent[]): Promise<number> {
    await append(first, events);
    stored = first + events.length;
    publish(first, events);
    return stored - 1;
  }
}
