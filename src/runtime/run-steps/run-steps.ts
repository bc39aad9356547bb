/** One step of a run, with everything that was said: read from its log on request. */

import { parseTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { asJsonObject, type JsonObject } from "../../base/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import type { KeptContent } from "../../protocol/file-changes.ts";
import type { LoggedEvent, RunCompaction, ToolStart } from "../../protocol/run-events.ts";
import { isOfItems } from "../../responses/conversations/run-items.ts";
import type { RunIndex } from "../../store/run-index.ts";
import { clipJson, toTextPiece } from "../record/event-view.ts";
import type { FoundRuns, Viewer } from "../record/found-runs.ts";
import { parseLimit, parseNumber, type Query } from "../record/run-query.ts";
import type { RecordPage, TextPiece } from "../record/views.ts";
import type { ReadBefore } from "./before-run.ts";
import {
  createChangeFold,
  type LoggedFileChange,
  type ReadFileContent,
  toChangeView,
} from "./file-changes.ts";
import { toTurnStep } from "./model-call.ts";
import type { ChangeView, CompactionStep, StepView } from "./step-views.ts";
import { createCallFold } from "./tool-call.ts";

export interface RunSteps {
  /** The model call, tool call or summary that the event `seq` opened. Rejects with `not_found` if it opened none. */
  step(viewer: Viewer, id: string, seq: number): Promise<StepView>;
  /** A piece of a long text of it. */
  stepText(viewer: Viewer, id: string, at: StepPlace): Promise<TextPiece>;
  /** The changes to files by a run and all below it, the oldest first. */
  changes(viewer: Viewer, id: string, query: Query): Promise<RecordPage<ChangeView>>;
}

export interface StepPlace {
  readonly seq: number;
  /** A JSON Pointer. */
  readonly path: string;
  readonly from: number;
}

export interface StepParts {
  readonly index: RunIndex;
  readonly engine: Engine;
  readonly found: FoundRuns;
  readonly readBefore: ReadBefore;
  /** Tools by their names, as this program offers them; unknown ones by their names alone. */
  readonly toolsOf: (names: readonly string[]) => readonly JsonObject[];
}

/** The size of an answer: texts are cut until it has this many characters of JSON. */
const STEP_CHARS = 600_000;

export function createRunSteps(parts: StepParts): RunSteps {
  const { found } = parts;
  const read = async (viewer: Viewer, id: string, seq: number): Promise<StepView> => {
    await found.find(viewer, id);
    const opened = await found.event(id, seq);
    if (opened?.event.type === "turn_start") return await readTurn(parts, opened);
    if (isCall(opened)) return await readCall(parts, opened);
    if (opened?.event.type === "compaction") return toCompaction(opened, opened.event);
    throw new Failure("not_found", `Event ${seq} of run ${id} is not the start of a step.`);
  };
  return {
    async step(viewer, id, seq) {
      const whole = asJsonObject(await read(viewer, id, seq));
      const { value, clipped } = clipJson(whole, STEP_CHARS);
      return { ...(value as unknown as StepView), clipped };
    },
    async stepText(viewer, id, { seq, path, from }) {
      return toTextPiece(asJsonObject(await read(viewer, id, seq)), path, from);
    },
    async changes(viewer, id, query) {
      await found.find(viewer, id);
      return await readChanges(parts, id, query);
    },
  };
}

function isCall(
  logged: LoggedEvent | undefined,
): logged is LoggedEvent & { readonly event: ToolStart } {
  return logged?.event.type === "tool_start";
}

async function readTurn(
  { engine, readBefore, toolsOf }: StepParts,
  { run_id: id, seq }: LoggedEvent,
): Promise<StepView> {
  const log: LoggedEvent[] = [];
  reading: for await (const page of readLog(engine.record, id)) {
    for (const logged of page) {
      if (isOfItems(logged.event)) log.push(logged);
      if (logged.seq > seq && ENDS.has(logged.event.type)) break reading;
    }
  }
  const input = (await engine.input(id)) ?? null;
  const task = parseTask(input);
  const before = await readBefore(task);
  return toTurnStep(log, seq, { task, before, tools: toolsOf(task.tools) });
}

/** Events that end a model call, however it ended. */
const ENDS: ReadonlySet<string> = new Set(["turn_end", "turn_start", "run_resume", "run_end"]);

async function readCall(
  { engine, found }: StepParts,
  start: LoggedEvent & { readonly event: ToolStart },
): Promise<StepView> {
  const call = createCallFold(start);
  const changes = createChangeFold();
  for await (const page of readLog(engine.record, start.run_id)) {
    for (const logged of page) {
      changes.read(logged);
      if (logged.seq > start.seq && !call.done) call.read(logged);
    }
  }
  const { call_id } = start.event;
  const own = changes.changes().filter(({ before }) => before.call_id === call_id);
  const readContent = createContentReader(found);
  const shown: ChangeView[] = [];
  for (const change of own.slice(0, MAX_CHANGES)) {
    shown.push(await toChangeView(change, changes.contents, readContent));
  }
  return call.toStep(shown);
}

/** The most changes in an answer. */
const MAX_CHANGES = 100;

function createContentReader(found: FoundRuns): ReadFileContent {
  return async ({ run, seq }): Promise<KeptContent | undefined> => {
    const event = (await found.event(run, seq))?.event;
    return event?.type === "file_before" ? event.content : undefined;
  };
}

function toCompaction(
  { run_id, seq }: LoggedEvent,
  { turn, summary, items, tokens_before, tokens_after, usage, cost_usd, at_ms }: RunCompaction,
): CompactionStep {
  return {
    object: "run.step",
    kind: "compaction",
    run_id,
    seq,
    turn,
    summary,
    items,
    tokens_before,
    tokens_after,
    usage: asJsonObject(usage),
    cost_usd,
    started_at_ms: at_ms,
    ended_at_ms: at_ms,
    clipped: [],
  };
}

/** The index in the list is the cursor: a log grows only at its end. */
async function readChanges(
  { index, engine, found }: StepParts,
  id: string,
  query: Query,
): Promise<RecordPage<ChangeView>> {
  const limit = parseLimit(query);
  const after = parseNumber(query, "after", 0);
  const fold = createChangeFold();
  for (const run of await index.listTree(id)) {
    // A run that made no call has changed nothing.
    if (run.calls === 0) continue;
    for await (const page of readLog(engine.record, run.id)) {
      for (const logged of page) fold.read(logged);
    }
  }
  const all = [...fold.changes()].sort(byTime);
  const page = all.slice(after, after + limit);
  const readContent = createContentReader(found);
  const data: ChangeView[] = [];
  for (const change of page) data.push(await toChangeView(change, fold.contents, readContent));
  const next = after + page.length < all.length ? String(after + page.length) : null;
  return { object: "list", data, next };
}

function byTime(a: LoggedFileChange, b: LoggedFileChange): number {
  return a.atMs - b.atMs;
}
