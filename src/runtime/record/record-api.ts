/**
 * The API of runs as functions: everything that `/v1/runs` and its neighbours answer, over the index of runs, the
 * record and the engine. Whoever asks sees the runs of one tenant, or of all (`Viewer`); a run of another tenant is
 * not there for them. No answer is over 2 MB: lists have pages, trees and logs come in pieces, long texts are cut.
 */

import type { Clock } from "../../base/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RunIndex } from "../../store/run-index.ts";
import { createRunSteps, type RunSteps, type StepParts } from "../run-steps/run-steps.ts";
import type { Runtime } from "../runtime.ts";
import type { Sessions } from "../sessions/session.ts";
import { createFoundRuns } from "./found-runs.ts";
import { createRunControls, type RunControls } from "./run-controls.ts";
import { createRunExport, type RunExport } from "./run-export.ts";
import { createRunWatch, type RunWatch } from "./run-news.ts";
import { createRunReads, type RunReads } from "./run-reads.ts";
import { createRunSums, type RunSums } from "./run-sums.ts";
import { createSessionReader, type SessionReader } from "./session-views.ts";

export interface RecordApi
  extends RunReads,
    RunSteps,
    RunSums,
    RunWatch,
    RunExport,
    RunControls,
    SessionReader {}

interface RecordParts extends Pick<StepParts, "readBefore" | "toolsOf"> {
  readonly index: RunIndex;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly runtime: Pick<Runtime, "cancel" | "steer" | "resume" | "replay">;
  readonly sessions: Sessions;
}

export function createRecordApi({ sessions, ...given }: RecordParts): RecordApi {
  const found = createFoundRuns(given.index, given.engine);
  const parts = { ...given, found };
  const reader = createSessionReader(sessions);
  return {
    ...createRunReads(parts),
    ...createRunSteps(parts),
    ...createRunSums(parts),
    ...createRunWatch(parts.index, parts.clock),
    ...createRunExport(parts),
    ...createRunControls(parts),
    ...reader,
    async fork(viewer, id, turn) {
      await found.find(viewer, id);
      return await reader.fork(viewer, id, turn);
    },
  };
}
