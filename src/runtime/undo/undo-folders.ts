/** Holds the folders of the changes that are to be undone, and looks at which of their files can be restored. */

import { Failure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import { isSameState } from "../../protocol/file-changes.ts";
import { type FileStates, openFileStates } from "../../tools/changes/file-states.ts";
import { listOthers } from "../../tools/changes/restore-files.ts";
import { type Obstacle, planUndo, type UndoItem } from "./plan-undo.ts";
import { readChanges, type UndoableChange, type UndoneRun } from "./read-changes.ts";

interface Plan {
  readonly items: readonly UndoItem[];
  readonly obstacles: readonly Obstacle[];
  readonly unseen: readonly string[];
  readonly changed: number;
}

export async function lookAtFiles(
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
