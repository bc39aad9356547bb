/** Follows a run and all below it as one stream: each run's events in their order, runs as they come. */

import type { Clock } from "../../base/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";

/** How often to look for a child that was announced and is not in the record yet. */
const LOOK_MS = 100;

export interface FollowedRun {
  readonly id: string;
  /** The last known event; -1 for none. */
  readonly after: number;
}

interface TreeFollowing {
  readonly engine: Pick<Engine, "follow" | "status">;
  readonly clock: Clock;
  /** The runs that are there already. Runs that they start are followed from their beginning. */
  readonly runs: readonly FollowedRun[];
  /** Runs that have ended and are left out. */
  readonly past?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** Ends when all of them have ended. A batch is of one run. */
export async function* followTree(
  following: TreeFollowing,
): AsyncGenerator<readonly LoggedEvent[]> {
  const { engine, clock, runs, past = [], signal } = following;
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const lane = createLane<readonly LoggedEvent[]>();
  const known = new Set<string>(past);
  /** Children that ended before they were found: the stream does not wait for them. */
  const ended = new Set<string>();

  async function pump({ id, after }: FollowedRun): Promise<void> {
    while (!(await engine.status(id))) {
      if (ended.has(id)) return;
      await clock.sleep(LOOK_MS, until);
    }
    for await (const batch of engine.follow(id, after, until)) await lane.put(batch);
  }
  function start(run: FollowedRun): void {
    if (known.has(run.id)) return;
    known.add(run.id);
    lane.enter(pump(run));
  }

  try {
    for (const run of runs) start(run);
    for await (const batch of lane.read()) {
      yield batch;
      for (const { event } of batch) {
        if (event.type === "child_start") start({ id: event.child_id, after: -1 });
        if (event.type === "child_end") ended.add(event.child_id);
      }
    }
  } finally {
    over.abort();
    await lane.close();
  }
}

interface Lane<Value> {
  /** Adds a pump that puts values; the lane is read until all pumps are done. */
  enter(pump: Promise<void>): void;
  /** Resolves once the value was taken: a slow reader slows the writers. */
  put(value: Value): Promise<void>;
  read(): AsyncGenerator<Value>;
  /** Waits for all pumps, whether they fail or not. */
  close(): Promise<void>;
}

function createLane<Value>(): Lane<Value> {
  const waiting: { readonly value: Value; readonly taken: () => void }[] = [];
  const pumps = new Set<Promise<void>>();
  let wake = (): void => {};
  let failure: { readonly thrown: unknown } | undefined;
  let isClosed = false;
  return {
    enter(pump) {
      const done = pump
        .catch((thrown: unknown) => {
          failure ??= { thrown };
        })
        .finally(() => {
          pumps.delete(done);
          wake();
        });
      pumps.add(done);
    },
    put: (value) =>
      new Promise<void>((taken) => {
        if (isClosed) return taken();
        waiting.push({ value, taken });
        wake();
      }),
    async *read() {
      for (;;) {
        const next = waiting.shift();
        if (next) {
          yield next.value;
          next.taken();
        } else if (failure) throw failure.thrown;
        else if (pumps.size === 0) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    async close() {
      isClosed = true;
      for (const { taken } of waiting.splice(0)) taken();
      await Promise.all(pumps);
    },
  };
}
