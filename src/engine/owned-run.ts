/**
 * A run while this process owns it: its right to write, its signal and its log.
 *
 * Ownership ends once: when another process takes over, when this one stops, or when the run finishes. After that
 * every write is refused here already, before the store would do it.
 */

import { setMaxListeners } from "node:events";
import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { Journal } from "../store/journal.ts";
import { toRefusal, toUnknownRun } from "../store/refusal.ts";
import type { RunReader } from "../store/run-reader.ts";
import type { Hub } from "./hub.ts";
import type { LeaseTerm } from "./lease.ts";
import { createRunLog, type RunLog } from "./run-log.ts";
import { createUncounted, type Uncounted } from "./uncounted-time.ts";

export interface OwnedRun {
  readonly run: RunRecord;
  readonly epoch: number;
  /** What finished steps of earlier owners returned. */
  readonly journal: ReadonlyMap<string, Json>;
  readonly signal: AbortSignal;
  readonly log: RunLog;
  /** Why this process may write no more; undefined while it may. */
  readonly lost: Failure | undefined;
  /**
   * Called before an effect outside the record. Rejects if another process has taken the run over; asks the record
   * only if this process was silent for so long that this is possible.
   */
  confirm(): Promise<void>;
  /** Does one write of the owner. A refusal as `fenced` ends the ownership. */
  write<Out>(work: () => Promise<Out>): Promise<Out>;
  /** Tells the body to come to its end, which is still written. */
  abort(reason: Failure): void;
  /** Tells the body to stop; nothing of it is written from here on. */
  lose(reason: Failure): void;
  readonly uncounted: Uncounted;
  /** Called when the ending is in the store. */
  close(): void;
}

interface OwnedRunOptions {
  readonly store: Journal & RunReader;
  readonly hub: Hub;
  readonly run: RunRecord;
  readonly epoch: number;
  readonly journal: ReadonlyMap<string, Json>;
  /** Begun before the run was claimed. */
  readonly term: LeaseTerm;
}

function createOwnedRun(options: OwnedRunOptions): OwnedRun {
  const { store, hub, run, epoch, journal, term } = options;
  const { id } = run;
  const controller = new AbortController();
  // All steps and children of the run listen to it; Node would warn the user of more than ten.
  setMaxListeners(0, controller.signal);
  const right = createRight(id);
  const { check } = right;

  const lose = (reason: Failure): void => {
    right.lose(reason);
    controller.abort(reason);
  };
  const write = async <Out>(work: () => Promise<Out>): Promise<Out> => {
    check();
    try {
      return await work();
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.code === "fenced") lose(thrown);
      throw thrown;
    }
  };
  const confirm = async (): Promise<void> => {
    check();
    await term.confirm(() =>
      write(async () => {
        const refusal = toRefusal(await store.getRunStatus(id), { id, epoch });
        if (refusal) throw refusal;
      }),
    );
  };
  const log = createRunLog({
    next: run.next_seq,
    append: (firstSeq, events) => write(() => store.append(id, epoch, firstSeq, events)),
    publish: (firstSeq, events) => hub.publish(id, firstSeq, events),
  });
  return {
    run,
    epoch,
    journal,
    log,
    confirm,
    write,
    lose,
    signal: controller.signal,
    uncounted: createUncounted(),
    get lost() {
      return right.why();
    },
    abort: (reason) => controller.abort(reason),
    close: right.close,
  };
}

interface Right {
  /** Why this process may write no more; undefined while it may. */
  why(): Failure | undefined;
  /** Throws it. */
  check(): void;
  lose(reason: Failure): void;
  /** Called when the run has ended. */
  close(): void;
}

function createRight(id: string): Right {
  let lost: Failure | undefined;
  let isClosed = false;
  const why = (): Failure | undefined => {
    // Made where it is asked for: its stack costs 10 µs, and every run ends.
    if (isClosed) lost ??= toClosed(id);
    return lost;
  };
  return {
    why,
    check() {
      const reason = why();
      if (reason) throw reason;
    },
    lose(reason) {
      if (!isClosed) lost ??= reason;
    },
    close() {
      isClosed = true;
    },
  };
}

function toClosed(id: string): Failure {
  return new Failure("internal", `Run ${id} has ended; nothing can be written after that.`);
}

/**
 * A run that this process has claimed, read after the claim: from then on no other process can add to it. A run that
 * it has just written down (`fresh`) need not be read. Rejects if the run does not exist.
 */
export async function openOwnedRun({
  id,
  fresh,
  ...parts
}: Pick<OwnedRunOptions, "store" | "hub" | "epoch" | "term"> & {
  readonly id: string;
  readonly fresh: RunRecord | undefined;
}): Promise<OwnedRun> {
  const { store } = parts;
  if (fresh) return createOwnedRun({ run: fresh, journal: new Map(), ...parts });
  const run = await store.getRun(id);
  const journal = await store.readSteps(id);
  if (!run) throw toUnknownRun(id);
  return createOwnedRun({ run, journal, ...parts });
}
