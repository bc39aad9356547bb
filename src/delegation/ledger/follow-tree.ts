/**
 * The logs of a run and of everything below it, live, as one stream of batches. A batch is of one run, each run's
 * batches are in order, and a child's come after the `child_start` that names it.
 *
 * The root's `run_end` comes last, after all events of its descendants.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { toFailure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";

/** How often to look for a child that was ordered and is not in the record yet. */
const LOOK_MS = 50;
/** How long to wait for children that were interrupted when the root ended. */
const GRACE_MS = 5000;

export interface FollowTreeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

type Batch = readonly LoggedEvent[];

/** Pulls from each log no faster than its batches are taken: a slow reader costs no memory. */
export async function* followTree(
  engine: Pick<Engine, "follow" | "status">,
  id: string,
  { signal, clock = systemClock }: FollowTreeOptions = {},
): AsyncGenerator<Batch> {
  const follower = new TreeFollower(engine, clock);
  const onAbort = (): void => follower.stop(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    follower.begin(id);
    yield* follower.batches();
  } finally {
    signal?.removeEventListener("abort", onAbort);
    await follower.end();
  }
}

interface Reader {
  readonly stopping: AbortController;
  reading: Promise<void>;
}

class TreeFollower {
  readonly #engine: Pick<Engine, "follow" | "status">;
  readonly #clock: Clock;
  /** Batches that were not taken yet, at most one for each run. */
  readonly #waiting: { readonly batch: Batch; readonly taken: () => void }[] = [];
  readonly #root = new AbortController();
  #rootReading: Promise<void> | undefined;
  /** Descendants whose logs were not read to their ends. */
  readonly #below = new Map<string, Reader>();
  readonly #seen = new Set<string>();
  /** Children whose parents have recorded their ending: they were written down before, or never. */
  readonly #ended = new Set<string>();
  #isRootEnded = false;
  #isDone = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(engine: Pick<Engine, "follow" | "status">, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  begin(id: string): void {
    this.#seen.add(id);
    this.#rootReading = this.#followRoot(id)
      .catch((thrown) => this.stop(thrown))
      .finally(() => {
        this.#isDone = true;
        this.#wake?.();
      });
  }

  /** Makes `batches` throw the reason. */
  stop(reason: unknown): void {
    this.#failure ??= toFailure(reason);
    this.#abort();
    this.#wake?.();
  }

  /** Removes every listener. */
  async end(): Promise<void> {
    this.#abort();
    for (const { taken } of this.#waiting.splice(0)) taken();
    const below = [...this.#below.values()].map(({ reading }) => reading);
    await Promise.allSettled([this.#rootReading, ...below]);
  }

  #abort(): void {
    this.#root.abort();
    for (const { stopping } of this.#below.values()) stopping.abort();
  }

  async *batches(): AsyncGenerator<Batch> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) {
        try {
          yield next.batch;
        } finally {
          next.taken();
        }
        continue;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isDone) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  async #followRoot(id: string): Promise<void> {
    let end: LoggedEvent | undefined;
    for await (const batch of this.#engine.follow(id, -1, this.#root.signal)) {
      const last = batch.at(-1);
      end = last?.event.type === "run_end" ? last : undefined;
      await this.#put(end ? batch.slice(0, -1) : batch);
    }
    this.#isRootEnded = true;
    while (this.#below.size > 0) await this.#drain();
    if (end) await this.#put([end]);
  }

  /** Reads every ended run to its end, however long that takes; a run that no process runs any more is left. */
  async #drain(): Promise<void> {
    const drained = Promise.all([...this.#below.values()].map(({ reading }) => reading));
    const grace = new AbortController();
    const late = this.#clock.sleep(GRACE_MS, grace.signal).then(
      () => true,
      () => false,
    );
    const isLate = await Promise.race([late, drained.then(() => false)]);
    grace.abort();
    if (!isLate) return;
    for (const [id, { stopping }] of this.#below) {
      const run = await this.#engine.status(id);
      if (run?.status !== "ended") stopping.abort();
    }
  }

  async #put(batch: Batch): Promise<void> {
    if (batch.length === 0) return;
    this.#root.signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      this.#waiting.push({ batch, taken: resolve });
      this.#wake?.();
    });
    for (const { event } of batch) if (event.type === "child_end") this.#ended.add(event.child_id);
    for (const { event } of batch) {
      if (event.type === "child_start") this.#startChild(event.child_id);
    }
  }

  #startChild(id: string): void {
    if (this.#seen.has(id) || this.#root.signal.aborted) return;
    this.#seen.add(id);
    const stopping = new AbortController();
    const reading = this.#followChild(id, stopping.signal)
      .catch((thrown) => {
        if (!stopping.signal.aborted) this.stop(thrown);
      })
      .finally(() => this.#below.delete(id));
    this.#below.set(id, { stopping, reading });
  }

  async #followChild(id: string, signal: AbortSignal): Promise<void> {
    if (!(await this.#isWrittenDown(id, signal))) return;
    for await (const batch of this.#engine.follow(id, -1, signal)) await this.#put(batch);
  }

  /** A child is ordered before it is written down, and a child of another process may have no record. */
  async #isWrittenDown(id: string, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      // Read first: a child that has ended by now was written down before, or never.
      const isOver = this.#ended.has(id) || this.#isRootEnded;
      if (await this.#engine.status(id)) return true;
      if (isOver) return false;
      await this.#clock.sleep(LOOK_MS, signal);
    }
  }
}
