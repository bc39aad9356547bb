/**
 * Plans an undo from the changes of the runs alone; pure. Each file goes back to its oldest state, and must now be in
 * its newest. Between two changes nothing else may have changed it.
 */

import { type FileState, isSameState, LOST } from "../../protocol/file-changes.ts";
import type { ContentPlace, ReadChanges, UndoableChange } from "./read-changes.ts";

export interface UndoItem {
  readonly path: string;
  /** How the tools left it. */
  readonly from: FileState;
  /** How it was. */
  readonly to: FileState;
  /** Where the content of `to` is kept; null if it has none. */
  readonly content: ContentPlace | null;
}

/** A file that an undo must not touch without `force`, or cannot restore. */
export interface Obstacle {
  readonly path: string;
  readonly why: string;
  /** True if `force` ignores it; content that was not kept can never be restored. */
  readonly canForce: boolean;
}

export interface Wanted {
  readonly items: readonly UndoItem[];
  readonly obstacles: readonly Obstacle[];
}

export function planUndo({ changes, contents }: Pick<ReadChanges, "changes" | "contents">): Wanted {
  const byPath = new Map<string, UndoableChange[]>();
  for (const change of changes) {
    const own = byPath.get(change.path);
    if (own) own.push(change);
    else byPath.set(change.path, [change]);
  }
  const items: UndoItem[] = [];
  const obstacles: Obstacle[] = [];
  for (const [path, own] of byPath) {
    const { item, obstacle } = planPath(path, toChain(own), contents);
    if (item) items.push(item);
    if (obstacle) obstacles.push(obstacle);
  }
  return { items, obstacles };
}

interface PlannedPath {
  readonly item?: UndoItem;
  readonly obstacle?: Obstacle;
}

/** Neither for a file that the tools themselves have put back. */
function planPath(
  path: string,
  { first, last, isBroken }: Chain,
  contents: ReadChanges["contents"],
): PlannedPath {
  const { before: to, lost } = first;
  const { after: from } = last;
  if (from && !isBroken && isSameState(from, to)) return {};
  const content = findContent(to, contents);
  if (content === undefined) {
    const why = lost ? LOST[lost] : "its content is not in the record";
    return { obstacle: { path, why: `cannot be restored: ${why}`, canForce: false } };
  }
  const item = { path, from: from ?? UNKNOWN, to, content };
  if (from && !isBroken) return { item };
  const why = from
    ? "was changed by you or another program between two changes of the tools"
    : "was being changed when its run was interrupted";
  return { item, obstacle: { path, why, canForce: true } };
}

/** Matches no state that a file can have. */
const UNKNOWN: FileState = { kind: "other" };

interface Chain {
  readonly first: UndoableChange;
  readonly last: UndoableChange;
  /** True if the file changed between two changes of the tools. */
  readonly isBroken: boolean;
}

/**
 * Joins changes of calls that ran at the same time: a command sees what another call changed meanwhile. The joined
 * change begins with the call that began first, and ends with the one that ended last.
 */
function toChain(changes: readonly UndoableChange[]): Chain {
  const sorted = [...changes].sort((a, b) => a.sinceMs - b.sinceMs || a.atMs - b.atMs);
  const [first] = sorted as [UndoableChange, ...UndoableChange[]];
  let last = first;
  let isBroken = false;
  for (const change of sorted.slice(1)) {
    const isBeside = change.sinceMs < last.atMs;
    const follows = last.after !== undefined && isSameState(last.after, change.before);
    if (!isBeside && !follows) isBroken = true;
    if (change.atMs >= last.atMs) last = change;
  }
  return { first, last, isBroken };
}

/** Null for a state without content, undefined for a file whose content is not kept. */
function findContent(
  state: FileState,
  contents: ReadonlyMap<string, ContentPlace>,
): ContentPlace | null | undefined {
  if (state.kind === "other") return undefined;
  if (state.kind !== "file") return null;
  return state.sha256 === null ? undefined : contents.get(state.sha256);
}
