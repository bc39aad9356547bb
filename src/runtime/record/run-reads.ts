/**
 * Reads runs: lists, one run, its tree, its log, what it does now, and a comparison with another
 * run.
 */

import type { Clock } from "../../base/clock.ts";
import { asJsonObject } from "../../base/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import { toUnknownRun } from "../../store/refusal.ts";
import type { RunIndex } from "../../store/run-index.ts";
import { compareSteps, createStepReader, type RunStep } from "./compare-runs.ts";
import { toTextPiece } from "./event-view.ts";
import { type FollowWish, followRun } from "./follow-run.ts";
import type { FoundRuns, Viewer } from "./found-runs.ts";
import { type EventsWish, readEventPage } from "./log-pages.ts";
import { parseLimit, parseRunList, type Query, toCursor, toPage } from "./run-query.ts";
import { createTreeReader } from "./tree-pieces.ts";
import type {
  Comparison,
  EventView,
  FollowFrame,
  RecordPage,
  RunDetail,
  RunView,
  TextPiece,
  TreePiece,
} from "./views.ts";

export interface RunReads {
  list(viewer: Viewer, query: Query): Promise<RecordPage<RunView>>;
  get(viewer: Viewer, id: string): Promise<RunDetail>;
  tree(viewer: Viewer, id: string, after: string | null): Promise<TreePiece>;
  events(viewer: Viewer, id: string, wish: EventsWish): Promise<RecordPage<EventView>>;
  text(viewer: Viewer, id: string, at: TextPlace): Promise<TextPiece>;
  /** Rejects before it begins if the run does not exist. */
  follow(
    viewer: Viewer,
    id: string,
    wish: FollowWish,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<FollowFrame>>;
  compare(viewer: Viewer, a: string, b: string): Promise<Comparison>;
}

export interface TextPlace {
  readonly seq: number;
  /** A JSON Pointer. */
  readonly path: string;
  readonly from: number;
}

export interface ReadParts {
  readonly index: RunIndex;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly found: FoundRuns;
}

/** Where a comparison stops reading a log. */
const MAX_STEPS = 5000;

export function createRunReads({ index, engine, clock, found }: ReadParts): RunReads {
  const trees = createTreeReader(index, clock);
  return {
    async list({ tenant }, query) {
      const limit = parseLimit(query);
      const rows = await index.listRuns({ ...parseRunList(query), tenant, limit: limit + 1 });
      const views = await found.views(rows.slice(0, limit));
      return toPage(views, rows.length > limit, (run) => toCursor(run.created_at_ms, run.id));
    },
    get: async (viewer, id) => await found.detail(await found.find(viewer, id)),
    async tree(viewer, id, after) {
      await found.find(viewer, id);
      return await trees.read(id, after);
    },
    async events(viewer, id, wish) {
      await found.find(viewer, id);
      return await readEventPage(engine, id, wish);
    },
    async text(viewer, id, { seq, path, from }) {
      await found.find(viewer, id);
      const logged = await found.event(id, seq);
      if (!logged) throw toUnknownRun(`${id}:${seq}`);
      return toTextPiece(asJsonObject(logged.event), path, from);
    },
    async follow(viewer, id, wish, signal) {
      await found.find(viewer, id);
      return followRun({ index, engine, clock }, id, wish, signal);
    },
    async compare(viewer, a, b) {
      const left = await found.find(viewer, a);
      const right = await found.find(viewer, b);
      const steps = [await readSteps(engine, a), await readSteps(engine, b)] as const;
      const views = { a: await found.view(left), b: await found.view(right) };
      return { object: "run.comparison", ...views, ...compareSteps(...steps) };
    },
  };
}

async function readSteps({ record }: Engine, id: string): Promise<readonly RunStep[]> {
  const reader = createStepReader();
  for await (const page of readLog(record, id)) {
    for (const logged of page) reader.read(logged);
    if (reader.steps.length >= MAX_STEPS) break;
  }
  return reader.steps.slice(0, MAX_STEPS);
}
