import type { RunRecord } from "../protocol/run-record.ts";
import type { NewQueuedRun, NewRun } from "./journal.ts";
import { JOURNAL_VERSION } from "./journal-version.ts";

/** A run right after it was written down. */
export function toStored(run: NewRun): RunRecord {
  return {
    id: run.id,
    parent_id: run.parent_id,
    path: run.path,
    name: run.name,
    input: run.input,
    title: run.title,
    created_at_ms: run.created_at_ms,
    tenant: run.tenant ?? null,
    status: "running",
    epoch: firstEpoch(run),
    owner: run.owner ?? null,
    ending: null,
    result: null,
    ended_at_ms: null,
    next_seq: 0,
    journal: run.journal ?? JOURNAL_VERSION,
  };
}

/** Zero while it was not begun. A run in a queue counts as begun, so that it is given a turn. */
export function firstEpoch(run: NewRun | NewQueuedRun): number {
  return run.owner || "place" in run ? 1 : 0;
}
