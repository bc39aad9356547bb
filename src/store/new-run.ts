import type { RunRecord } from "../protocol/run-record.ts";
import type { NewRun } from "./journal.ts";
import { JOURNAL_VERSION } from "./journal-version.ts";

/** A run as it is right after it was written down. */
export function toStored(run: NewRun): RunRecord {
  const { id, parent_id, path, name, input, title, created_at_ms, tenant, owner } = run;
  return {
    ...{ id, parent_id, path, name, input, title, created_at_ms, tenant: tenant ?? null },
    ...{ status: "running", epoch: owner ? 1 : 0, owner: owner ?? null },
    ...{ ending: null, result: null, ended_at_ms: null, next_seq: 0 },
    journal: run.journal ?? JOURNAL_VERSION,
  };
}
