/**
 * The owner's pen for one run's log: gives out the numbers and appends in their order. Events are
 * published only after they are in the store, so that no reader sees what a crash could take back.
 */

import type { RunEvent } from "../protocol/run-events.ts";

export interface RunLog {
  /** The number after the last event in the store. */
  readonly next: number;
  /**
   * Resolves with the last event's number once it is in the store. Need not be awaited. `append` puts
   * them there, where they are part of something else.
   */
  emit(events: readonly RunEvent[], append?: Append): Promise<number>;
  /** Resolves when everything emitted is in the store; rejects if any of it was refused. */
  settled(): Promise<unknown>;
}

export type Append = (firstSeq: number, events: readonly RunEvent[]) => Promise<void>;

interface RunLogOptions {
  readonly next: number;
  readonly append: Append;
  publish(firstSeq: number, events: readonly RunEvent[]): void;
}

export function createRunLog({ next: start, append: usual, publish }: RunLogOptions): RunLog {
  let stored = start;
  let next = start;
  let tail: Promise<number> = Promise.resolve(start - 1);

  return {
    get next() {
      return stored;
    },
    emit(events, append = usual) {
      const first = next;
      next += events.length;
      // A refused append rejects all that follow it with the same failure: no number is skipped.
      tail = tail.then(() => write(first, events, append));
      // Whoever does not await an event still learns of its failure from `settled`.
      tail.catch(() => {});
      return tail;
    },
    settled: () => tail,
  };

  async function write(
    first: number,
    events: readonly RunEvent[],
    append: Append,
  ): Promise<number> {
    await append(first, events);
    stored = first + events.length;
    publish(first, events);
    return stored - 1;
  }
}
