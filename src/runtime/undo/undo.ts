/** Undoes what tools did to files: reads the runs, compares the files, and restores all of them or none. */

import { isTask, parseTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import { isSameState } from "../../protocol/file-changes.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { toUnknownRun } from "../../store/refusal.ts";
import { type FileStates, openFileStates } from "../../tools/changes/file-states.ts";
import { listOthers } from "../../tools/changes/restore-files.ts";
import type { Sessions } from "../sessions/session.ts";
import { type Obstacle, planUndo, type UndoItem } from "./plan-undo.ts";
import { readChanges, type UndoableChange, type UndoneRun } from "./read-changes.ts";
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

interface Plan {
  readonly items: readonly UndoItem[];
  readonly obstacles: readonly Obstacle[];
  readonly unseen: readonly string[];
  readonly changed: number;
}

async function lookAtFiles(
  { record }: Engine,
  runs: readonly UndoneRun[],
  { root, force }: { readonly root: string; readonly force: boolean },
): Promise<Plan> {
  const { unseen, ...changes } = await readChanges(record, runs);
  const wanted = planUndo(changes);
  const changed = countFiles(changes.changes);
  if (wanted.items.length === 0) return { ...wanted, unseen, changed };
  const states = await openFileStates(root);
  const items: UndoItem[] = [];
  const obstacles = [...wanted.obstacles];
  const refused = new Set(obstacles.map(({ path }) => path));
  const places = toPlaces(wanted.items);
  for (const item of wanted.items) {
    const { obstacle, now } = await hold(states, item, places);
    if (obstacle && !refused.has(item.path)) obstacles.push(obstacle);
    const isDone = isSameState(now, item.to);
    if (isDone || (force && obstacle && !obstacle.canForce)) continue;
    items.push(force ? { ...item, from: now } : item);
  }
  const whole = force ? await withFolders(states, items) : items;
  return { items: whole, obstacles, unseen, changed };
}

function countFiles(changes: readonly UndoableChange[]): number {
  const files = changes.filter(({ before, after }) => !isFolder(before) && !isFolder(after));
  return new Set(files.map(({ path }) => path)).size;
}

function isFolder(state: UndoItem["from"] | undefined): boolean {
  return state?.kind === "folder";
}

/** The paths that exist, and those that do not, once everything is restored. */
interface Places {
  readonly there: ReadonlySet<string>;
  readonly gone: ReadonlySet<string>;
}

function toPlaces(items: readonly UndoItem[]): Places {
  const there = new Set<string>();
  const gone = new Set<string>();
  for (const { path, to } of items) (to.kind === "none" ? gone : there).add(path);
  return { there, gone };
}

/** Compares a file with its expected state. */
async function hold(
  states: FileStates,
  { path, from, to }: UndoItem,
  { there, gone }: Places,
): Promise<{ readonly now: UndoItem["from"]; readonly obstacle?: Obstacle }> {
  const looked = await states.look(path, 0).catch(toFailed);
  if (looked instanceof Failure) {
    const obstacle = { path, why: `cannot be read: ${looked.message}`, canForce: false };
    return { now: { kind: "other" }, obstacle };
  }
  const { state: now } = looked;
  if (isSameState(now, to)) return { now };
  const refuse = (why: string, canForce = true) => ({ now, obstacle: { path, why, canForce } });
  if (now.kind === "other") return refuse("is not a file any more", false);
  if (now.kind === "folder" && to.kind !== "folder") {
    // A file that was put into a folder of the tools, which the tools then removed, comes back into it.
    const back = [...there].find((one) => one.startsWith(`${path}/`));
    const other = back ?? (await listOthers(states, path, gone))[0];
    if (other !== undefined) return refuse(`holds ${other}, which stays`, false);
  }
  if (!isSameState(now, from)) {
    return refuse(now.kind === "none" ? "was removed since" : "was changed since");
  }
  const above = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  const isMissing = to.kind !== "none" && !there.has(above) && !(await states.find(above)).stats;
  return isMissing ? refuse("its folder was removed since") : { now };
}

function toFailed(thrown: unknown): Failure {
  return thrown instanceof Failure
    ? thrown
    : new Failure("tool_failed", String((thrown as NodeJS.ErrnoException).code ?? thrown));
}

/** Creates removed folders again for the files that go back into them. */
async function withFolders(
  states: FileStates,
  items: readonly UndoItem[],
): Promise<readonly UndoItem[]> {
  const paths = new Set(items.map(({ path }) => path));
  const made: UndoItem[] = [];
  for (const { path, to } of items) {
    if (to.kind === "none") continue;
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const above = path.slice(0, end);
      if (paths.has(above)) continue;
      paths.add(above);
      if ((await states.find(above)).stats) continue;
      const states_ = { from: { kind: "none" }, to: { kind: "folder", mode: 0o755 } } as const;
      made.push({ path: above, ...states_, content: null });
    }
  }
  return [...made, ...items];
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
