/**
 * Runs of this process whose ending could not be written: the disk was full, or the file was locked for too long. What
 * a caller has read about such a run stays true: it ends as failed once there is room. A run that no caller waited for is
 * run again, once, so that a full disk does not make the same work cost money again and again.
 *
 * The ending of such a run may be in the record, and only the answer to the write was lost. So the record is asked
 * before anybody is told that a run is broken.
 */

import type { Failure } from "../base/failure.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import type { RunReader } from "../store/run-reader.ts";
import type { Store } from "../store/store.ts";
import type { UsedByRun } from "./ending.ts";

/** A run whose ending could not be written. */
export interface BrokenRun {
  readonly failure: Failure;
  /** What it had used by then; undefined if it reached no outcome. */
  readonly used: UsedByRun | undefined;
  /** As what this process owned it. */
  readonly epoch: number;
}

export interface BrokenRuns {
  add(id: string, broken: BrokenRun): void;
  /** True if it broke and there is no room for it yet. Asks the store only about broken runs. */
  isStuck(id: string, store: Pick<Store, "checkWritable">): Promise<boolean>;
  /** Why the run broke, for its parent, which then ends itself. */
  reasonOf(id: string): Failure | undefined;
  /** Why the run broke, for a caller that waits for it. */
  tell(id: string): Failure | undefined;
  /** Called by the next owner. Returns what the run ends with, or undefined if it is run again. */
  take(id: string): BrokenRun | undefined;
  /** Called when the ending is written, and when a caller wants the run to continue. */
  forget(id: string): void;
  /** Called with a run that the record calls ended. If this process wrote the ending, its body is told so now. */
  noteEnded(run: Pick<RunStatus, "id" | "epoch">): void;
  /**
   * Forgets the runs whose ending, or removal, is in the record, also those that another process ran after their
   * second try here. Asks the record only about runs that broke.
   */
  tidy(record: Pick<RunReader, "getRunStatus">): Promise<void>;
}

export function createBrokenRuns(): BrokenRuns {
  const broken = new Map<string, BrokenRun & { isFinal: boolean }>();
  /** Runs that had another try. */
  const tried = new Set<string>();
  const forget = (id: string): void => {
    broken.delete(id);
    tried.delete(id);
  };
  const noteEnded = ({ id, epoch }: Pick<RunStatus, "id" | "epoch">): void => {
    const found = broken.get(id);
    forget(id);
    if (found?.epoch === epoch) found.used?.onEnded?.();
  };
  return {
    add: (id, run) => void broken.set(id, { ...run, isFinal: tried.has(id) }),
    isStuck: async (id, store) => broken.has(id) && !(await hasRoom(store)),
    reasonOf: (id) => broken.get(id)?.failure,
    tell(id) {
      const found = broken.get(id);
      if (found) found.isFinal = true;
      return found?.failure;
    },
    take(id) {
      const found = broken.get(id);
      if (!found) return undefined;
      broken.delete(id);
      tried.add(id);
      return found.isFinal ? found : undefined;
    },
    forget,
    noteEnded,
    async tidy(record) {
      for (const id of new Set([...broken.keys(), ...tried])) {
        const run = await record.getRunStatus(id);
        if (!run) forget(id);
        else if (run.status === "ended") noteEnded(run);
      }
    },
  };
}

/** True if there is room for more than an ending. */
async function hasRoom(store: Pick<Store, "checkWritable">): Promise<boolean> {
  try {
    await store.checkWritable();
    return true;
  } catch {
    // Whatever the reason: the next start checks again.
    return false;
  }
}
