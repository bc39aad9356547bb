/**
 * Writes of many runs that are one statement: those that come while the database works on others wait, and go
 * together. So the messages to the database and the waits for its disk are shared, however many runs there are. A
 * write that comes alone does not wait.
 */

import { Failure } from "../../base/failure.ts";
import { nextTurn } from "../../base/turn.ts";

export interface BatchParts<Entry, Out> {
  /** Of what is written at once: more would take so long that others wait for it. */
  readonly mostBytes: number;
  readonly sizeOf: (entry: Entry) => number;
  /** Returns what became of each, in their order. Calls `onRetry` before it tries again. */
  readonly write: (
    entries: readonly Entry[],
    onRetry: () => void,
  ) => Promise<readonly Promise<Out>[]>;
  /**
   * Writes one by itself, after a batch with it has failed, and decides how it fails. `mayBeWritten`: an earlier try of
   * the batch may have written it, and only the answer was lost.
   */
  readonly alone: (entry: Entry, mayBeWritten: boolean) => Promise<Out>;
}

interface Waiting<Entry, Out> {
  readonly entry: Entry;
  settle(out: Promise<Out>): void;
}

/** In the order in which they came, one batch at a time: two would wait for each other's rows. */
export function createBatches<Entry, Out>(
  parts: BatchParts<Entry, Out>,
): (entry: Entry) => Promise<Out> {
  const waiting: Waiting<Entry, Out>[] = [];
  let isWorking = false;

  async function work(): Promise<void> {
    isWorking = true;
    for (;;) {
      // All that come within this turn go together.
      await nextTurn();
      if (waiting.length === 0) break;
      await writeBatch(parts, takeBatch(parts, waiting));
    }
    isWorking = false;
  }

  return (entry) =>
    new Promise((settle) => {
      waiting.push({ entry, settle });
      if (!isWorking) void work();
    });
}

function takeBatch<Entry, Out>(
  { mostBytes, sizeOf }: BatchParts<Entry, Out>,
  waiting: Waiting<Entry, Out>[],
): readonly Waiting<Entry, Out>[] {
  let count = 0;
  for (let bytes = 0; count < waiting.length && bytes < mostBytes; count++) {
    const next = waiting[count];
    if (next) bytes += sizeOf(next.entry);
  }
  return waiting.splice(0, count);
}

async function writeBatch<Entry, Out>(
  { write, alone }: BatchParts<Entry, Out>,
  batch: readonly Waiting<Entry, Out>[],
): Promise<void> {
  let mayBeWritten = false;
  const onRetry = (): void => {
    mayBeWritten = true;
  };
  try {
    const entries = batch.map(({ entry }) => entry);
    const written = await write(entries, onRetry);
    for (const [at, { settle }] of batch.entries()) {
      settle(written[at] ?? Promise.reject(new Failure("internal", "A write was left out.")));
    }
  } catch (thrown) {
    // A database that is away is not asked again for each. Else one of them may be the reason: each fails by itself.
    const isAway = thrown instanceof Failure && thrown.code === "store_busy";
    for (const { entry, settle } of batch) {
      settle(isAway ? Promise.reject(thrown) : alone(entry, mayBeWritten));
    }
  }
}
