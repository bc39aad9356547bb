import type { RunRecord } from "../protocol/run-record.ts";
import type { NewRun, StartedRun } from "./journal.ts";
import { JOURNAL_VERSION } from "./journal-version.ts";

/** A run as it is right after it was written down. */
export function toStored(run: NewRun): RunRecord {
  const { id, parent_id, path, name, input, title, created_at_ms, tenant, owner } = run;
  const epoch = firstEpoch(run);
  return {
    ...{ id, parent_id, path, name, input, title, created_at_ms, tenant: tenant ?? null },
    ...{ status: "running", epoch, owner: owner ?? null },
    ...{ ending: null, result: null, ended_at_ms: null, next_seq: 0 },
    journal: run.journal ?? JOURNAL_VERSION,
  };
}

/** Zero while nobody has begun it. One that stands in a queue counts as begun, so that it is given a turn. */
export function firstEpoch(run: NewRun | StartedRun): number {
  return run.owner || "place" in run ? 1 : 0;
}
