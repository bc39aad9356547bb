/** Undoes what tools did to files: reads the runs, compares the files, and restores all of them or none. */

import { isTask, parseTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { toUnknownRun } from "../../store/refusal.ts";
import type { Sessions } from "../sessions/session.ts";
import type { Obstacle, UndoItem } from "./plan-undo.ts";
import type { UndoneRun } from "./read-changes.ts";
import { lookAtFiles } from "./undo-folders.ts";
import { readUndoJob, STORED_UNDO, UNDO_BODY, type UndoJob } from "./undo-job.ts";
import { findRunsAfter } from "./undone-runs.ts";

/** Which changes are undone. */
export type UndoWish =
  /** The changes of a run and of everything below it. */
  | { readonly run: string }
  /** The changes that a session made after a turn; 0 for all of them. */
  | { readonly session: string; readonly turn: number };

export interface UndoOptions {
  /** Restores files that were changed meanwhile, and leaves those that cannot be restored. */
  readonly force?: boolean | undefined;
  /** Only reports what it would do. */
  readonly dryRun?: boolean | undefined;
}

export interface UndoneFile {
  readonly path: string;
  /** The change of the file. */
  readonly change: "restored" | "removed" | "created";
}

export interface UndoReport {
  readonly root: string;
  /** The runs whose changes these are, the oldest first. */
  readonly runs: readonly string[];
  /** How many files their tools changed, whatever these files are now; folders are not counted. */
  readonly changed: number;
  /** Files that are restored, or would be; folders are not counted. */
  readonly files: readonly UndoneFile[];
  /** The obstacles to the undo; if there are some, nothing was changed without `force`. */
  readonly obstacles: readonly Obstacle[];
  /** Calls that may have changed files without a comparison afterwards. */
  readonly unseen: readonly string[];
  /** The run that did it; undoing that run restores the changes. Null if nothing was done. */
  readonly undo: string | null;
}

export type Undo = (wish: UndoWish, options?: UndoOptions) => Promise<UndoReport>;

export interface UndoParts {
  readonly engine: Engine;
  readonly sessions: Sessions;
}

/** Rejects if the run does not exist, one of them is still at work, or another process undoes them. */
export function createUndo({ engine, sessions }: UndoParts): Undo {
  return async (wish, options = {}) => {
    const { record } = engine;
    const runs =
      "run" in wish
        ? [{ id: wish.run }]
        : await findRunsAfter({ record, sessions }, wish.session, {
            after: wish.turn,
            upTo: Number.POSITIVE_INFINITY,
          });
    const [first] = runs;
    if (!first) return NOTHING;
    const found = await Promise.all(runs.map(({ id }) => getRun(engine, id)));
    const root = rootOf(found[0] as RunRecord);
    if (!options.dryRun) await finishInterrupted(engine, runs);
    const plan = await lookAtFiles(engine, runs, { root, force: options.force === true });
    const { items, obstacles, unseen, changed } = plan;
    const report = { root, runs: runs.map(({ id }) => id), changed, obstacles, unseen };
    const files = items.flatMap(toFile);
    const isHindered = obstacles.length > 0 && options.force !== true;
    if (options.dryRun || isHindered || items.length === 0) return { ...report, files, undo: null };
    const undo = await submit(engine, first.id, { root, items });
    return { ...report, files, undo };
  };
}

const NOTHING: UndoReport = {
  root: "",
  runs: [],
  changed: 0,
  files: [],
  obstacles: [],
  unseen: [],
  undo: null,
};

async function getRun(engine: Engine, id: string): Promise<RunRecord> {
  const run = await engine.record.getRun(id);
  if (!run) throw toUnknownRun(id);
  if (run.status === "running" && run.name !== UNDO_BODY && (await engine.isHeld(run))) {
    const message = `Run ${id} is still at work. Stop it first: offshoot runs cancel ${id}`;
    throw new Failure("conflict", message);
  }
  return run;
}

/** The folder that a run works in. */
export function rootOf({ id, name, input }: RunRecord): string {
  const job = readUndoJob(name, input);
  if (job) return job.root;
  if (isTask(input)) return parseTask(input).root;
  throw new Failure("invalid_request", `Run ${id} is not a run of an agent: it changed no files.`);
}

/** An undo that a crash interrupted is finished, or taken back, before the next one looks at the files. */
async function finishInterrupted(engine: Engine, runs: readonly UndoneRun[]): Promise<void> {
  for (const { id } of runs) {
    const open = await engine.record.listRuns({ limit: 100, parent_id: id, status: "running" });
    for (const run of open.filter(({ name }) => name === UNDO_BODY)) {
      await engine.resume(run.id);
      await engine.ended(run.id);
    }
  }
}

function toFile({ path, from, to }: UndoItem): UndoneFile[] {
  if (to.kind === "folder" || (from.kind === "folder" && to.kind === "none")) return [];
  if (to.kind === "none") return [{ path, change: "removed" }];
  return [{ path, change: from.kind === "none" ? "created" : "restored" }];
}

/** Below the oldest of the runs, so that it is deleted with it. */
async function submit(engine: Engine, parent: string, job: UndoJob): Promise<string> {
  const path = (await engine.status(parent))?.path ?? "/root";
  const before = await engine.record.listRuns({ limit: 1000, parent_id: parent });
  const count = before.filter(({ name }) => name === UNDO_BODY).length;
  const key = `undo-${count + 1}`;
  const id = `${parent}/${key}`;
  const title = `undo: ${job.items.length === 1 ? "1 file" : `${job.items.length} files`}`;
  const place = { id, title, parent_id: parent, path: `${path}/${key}` };
  await engine.submit(UNDO_BODY, STORED_UNDO.write(job), place);
  const { ending } = await engine.result(id);
  if (ending === "completed") return id;
  throw new Failure("conflict", await readReason(engine, id));
}

async function readReason({ record }: Engine, id: string): Promise<string> {
  const last = (await record.getRun(id))?.next_seq ?? 0;
  const [logged] = await record.readEvents(id, last - 2, 1);
  const message = logged?.event.type === "run_end" ? logged.event.message : "";
  return (
    message ||
    `The undo was interrupted. Do it again: offshoot undo ${id.slice(0, id.lastIndexOf("/"))}`
  );
}
