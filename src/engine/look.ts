/** How followers of a run, and callers that wait for its ending, look at it in the record. */

import type { Failure } from "../base/failure.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import { toUnknownRun } from "../store/refusal.ts";
import type { RunReader } from "../store/run-reader.ts";
import type { BrokenRuns } from "./broken-runs.ts";
import { toStopped } from "./ending.ts";

/** The run in the record. Rejects if there is none, or if it has not ended and nothing more comes of it here. */
export type Look = (id: string) => Promise<RunStatus>;

export interface LookParts {
  readonly store: Pick<RunReader, "getRunStatus">;
  readonly broken: Pick<BrokenRuns, "reasonOf" | "noteEnded">;
  /** Why a run that has not ended is broken: `tell` or `reasonOf` of the broken runs. */
  readonly whyBroken: (id: string) => Failure | undefined;
  readonly isStopped: () => boolean;
}

export function createLook({ store, broken, whyBroken, isStopped }: LookParts): Look {
  return async (id) => {
    if (isStopped()) throw toStopped();
    // A run that breaks while the record is asked may have ended since: the next look finds out.
    const isBroken = broken.reasonOf(id) !== undefined;
    const run = await store.getRunStatus(id);
    if (!run) throw toUnknownRun(id);
    if (run.status === "ended") {
      broken.noteEnded(run);
      return run;
    }
    const reason = isBroken ? whyBroken(id) : undefined;
    if (reason) throw reason;
    return run;
  };
}
