/**
 * The owner's pen for one run's log: gives out the numbers and appends in their order. Events are
 * published only after they are in the store, so that no reader sees what a crash could take back.
 *
 * What is emitted while an append is on its way goes into the next one together: a model that is faster
 * than the store writes fewer rows, and no event waits longer.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { LoggedEvent, RunEvent } from "../protocol/run-events.ts";

export interface RunLog {
  /** The number after the last event in the store. */
  readonly next: number;
  /**
   * Resolves with the last event's number once it is in the store. Need not be awaited. `append` puts
   * them there, where they are part of something else, with those before them that wait. What survives
   * the `process` alone is put there in the next turn of the event loop, with what comes until then.
   */
  emit(
    events: readonly RunEvent[],
    append?: Append,
    survives?: "process" | "power",
  ): Promise<number>;
  /** Resolves when everything emitted is in the store; rejects if any of it was refused. */
  settled(): Promise<unknown>;
  /** The whole log as it is in the store; undefined where this process has not written or kept all of it. */
  recent(id: string): LoggedEvent[] | undefined;
}

export type Append = (firstSeq: number, events: readonly RunEvent[]) => Promise<void>;

interface RunLogOptions {
  readonly next: number;
  readonly append: Append;
  publish(firstSeq: number, events: readonly RunEvent[]): void;
}

/** Events that are written together. */
interface Batch {
  readonly first: number;
  events: readonly RunEvent[];
  append: Append | undefined;
  written: Promise<void>;
}

export function createRunLog({ next: start, append: usual, publish }: RunLogOptions): RunLog {
  const recent = createRecentEvents(start);
  let stored = start;
  let next = start;
  let tail: Promise<unknown> = Promise.resolve();
  /** The last batch, while it waits for those before it and takes more. */
  let open: Batch | undefined;

  return {
    get next() {
      return stored;
    },
    emit(events, append, survives = "power") {
      const first = next;
      next += events.length;
      const last = next - 1;
      // One batch is part of one thing alone.
      const batch = open && !(append && open.append) ? open : begin(first, survives);
      batch.events = batch.events.length === 0 ? events : [...batch.events, ...events];
      batch.append ??= append;
      open = batch;
      const emitted = batch.written.then(() => last);
      // A caller that does not await an event still learns of its failure from `settled`.
      emitted.catch(() => {});
      return emitted;
    },
    settled: () => tail,
    recent: (id) => recent.all(id),
  };

  function begin(first: number, survives: "process" | "power"): Batch {
    const batch: Batch = { first, events: [], append: undefined, written: Promise.resolve() };
    // A refused append rejects all that follow it with the same failure: no number is skipped.
    const before = survives === "process" ? Promise.all([tail, nextTurn()]) : tail;
    batch.written = before.then(() => write(batch));
    batch.written.catch(() => {});
    tail = batch.written;
    return batch;
  }

  async function write(batch: Batch): Promise<void> {
    if (open === batch) open = undefined;
    const { first, events, append = usual } = batch;
    await append(first, events);
    stored = first + events.length;
    recent.add(events);
    publish(first, events);
  }
}

/**
 * The log of a run as this process wrote it, for its own body: so that an answer of ordinary size is not read and
 * parsed again at its end. It refers to the items of the run, which are in memory anyway, and needs little more.
 *
 * Longer logs are read from the store.
 */
const MAX_EVENTS = 4096;
const MAX_CHARS = 256 * 1024;

interface RecentEvents {
  add(events: readonly RunEvent[]): void;
  /** The whole log; undefined if it is too long, or began in another process. */
  all(id: string): LoggedEvent[] | undefined;
}

function createRecentEvents(start: number): RecentEvents {
  let kept: RunEvent[] | undefined = start === 0 ? [] : undefined;
  let chars = 0;
  return {
    add(events) {
      if (!kept) return;
      for (const event of events) {
        if ("delta" in event) chars += event.delta.length;
        kept.push(event);
      }
      if (kept.length > MAX_EVENTS || chars > MAX_CHARS) kept = undefined;
    },
    all: (id) => kept?.map((event, seq) => ({ run_id: id, seq, event })),
  };
}
