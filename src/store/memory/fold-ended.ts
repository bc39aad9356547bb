/**
 * The index rows of a run that is written down after it has ended: what its events would have written one by one,
 * folded in memory. One suite compares both.
 */

import type { NewRun, RunFinish } from "../journal.ts";
import { toStored } from "../new-run.ts";
import { type IndexedRun, MemoryFold } from "./memory-fold.ts";

export type EndedFinish = Omit<RunFinish, "firstSeq">;

export function foldEnded(run: NewRun, end: EndedFinish): IndexedRun {
  const index = new MemoryFold();
  index.add(toStored(run));
  index.note(run.id, 0, end.events);
  index.end(run.id, end);
  return index.rowsOf(run.id) as IndexedRun;
}
