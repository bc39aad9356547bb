/**
 * Runs of this process whose ending could not be written: the disk was full, or the file was locked for
 * too long. What somebody was told of such a run stays true: it ends as failed once there is room. One
 * that nobody waited for is run again, once, so that a full disk is not paid for again and again.
 */

import type { Failure } from "../base/failure.ts";
import type { Store } from "../store/store.ts";
import type { UsedByRun } from "./ending.ts";

/** A run whose ending could not be written. */
export interface BrokenRun {
  readonly failure: Failure;
  /** What it had used by then; undefined where it came to no outcome. */
  readonly used: UsedByRun | undefined;
}

export interface BrokenRuns {
  add(id: string, broken: BrokenRun): void;
  /** Whether it broke and there is no room for it yet. Asks the store only about those that broke. */
  isStuck(id: string, store: Pick<Store, "checkWritable">): Promise<boolean>;
  /** Why the run broke, for its parent, which comes to its own end. */
  reasonOf(id: string): Failure | undefined;
  /** Why the run broke, for somebody who waits for it. */
  tell(id: string): Failure | undefined;
  /** Called by the next owner. Returns what the run ends with, or nothing where it is run again. */
  take(id: string): BrokenRun | undefined;
  /** Called when the ending is written, and when somebody wants the run to go on. */
  forget(id: string): void;
}

export function createBrokenRuns(): BrokenRuns {
  const broken = new Map<string, BrokenRun & { isFinal: boolean }>();
  /** Those that had another try. */
  const tried = new Set<string>();
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
    forget(id) {
      broken.delete(id);
      tried.delete(id);
    },
  };
}

/** Whether there is room for more than an ending. */
async function hasRoom(store: Pick<Store, "checkWritable">): Promise<boolean> {
  try {
    await store.checkWritable();
    return true;
  } catch {
    // Whatever the reason: it is looked at again with the next start.
    return false;
  }
}
