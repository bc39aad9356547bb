/**
 * The API of runs as functions: everything that `/v1/runs` and its neighbours answer, over the index of runs, the
 * record and the engine. A caller sees the runs of one tenant, or of all (`Viewer`); runs of another tenant do not
 * exist for it. No answer is over 2 MB: lists have pages, trees and logs come in pieces, long texts are cut.
 */

import type { Clock } from "../../base/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RunIndex, RunNews } from "../../store/run-index.ts";
import { createRunSteps, type RunSteps, type StepParts } from "../run-steps/run-steps.ts";
import type { Sessions } from "../sessions/session.ts";
import type { Viewer } from "./found-runs.ts";
import { createFoundRuns } from "./found-runs.ts";
import { createRunControls, type RecordedRuns, type RunControls } from "./run-controls.ts";
import { createRunExport, type RunExport } from "./run-export.ts";
import { createRunReads, type RunReads } from "./run-reads.ts";
import { createRunSums, type RunSums } from "./run-sums.ts";
import { createSessionReader, type SessionReader } from "./session-views.ts";
import type { WatchFrame } from "./views.ts";

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
  readonly runtime: RecordedRuns;
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

/** Tells watchers of a list that it has changed. Reads the record once a second, however many watch. */
interface RunWatch {
  /** The first frame at once, then one for each change, until the signal aborts. */
  watch(viewer: Viewer, signal: AbortSignal): AsyncGenerator<WatchFrame>;
}

/** How far a list may lag. */
const LOOK_MS = 1000;

function createRunWatch(index: Pick<RunIndex, "readNews">, clock: Clock): RunWatch {
  const looks = new Map<string | undefined, { readonly atMs: number; news: Promise<RunNews> }>();
  const look = ({ tenant }: Viewer): Promise<RunNews> => {
    const known = looks.get(tenant);
    const nowMs = clock.now();
    if (known && nowMs - known.atMs < LOOK_MS) return known.news;
    const news = index.readNews(tenant);
    looks.set(tenant, { atMs: nowMs, news });
    return news;
  };
  return {
    async *watch(viewer, signal) {
      for (let told: RunNews | undefined; !signal.aborted; ) {
        const news = await look(viewer);
        if (news.version !== told?.version) yield { runs: news.version, questions: news.waiting };
        told = news;
        // The client has gone away, or the server stops.
        await clock.sleep(LOOK_MS, signal).catch(() => {});
      }
    },
  };
}
