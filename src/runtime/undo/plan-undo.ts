/**
 * What an undo does, worked out from the changes of the runs alone; pure. Of each file the oldest state is what it
 * goes back to, and the newest is what it must be now. Between two changes nobody else may have changed it.
 */

import { type FileState, isSameState, LOST } from "../../protocol/file-changes.ts";
import type { ContentPlace, FileChange, ReadChanges } from "./read-changes.ts";

export interface UndoItem {
  readonly path: string;
  /** How the tools left it. */
  readonly from: FileState;
  /** How it was. */
  readonly to: FileState;
  /** Where the content of `to` is kept; null for what has none. */
  readonly content: ContentPlace | null;
}

/** A file that an undo must not touch unasked, or cannot restore. */
export interface Obstacle {
  readonly path: string;
  readonly why: string;
  /** Whether `force` gets past it: what was not kept cannot be restored by anybody. */
  readonly canForce: boolean;
}

export interface Wanted {
  readonly items: readonly UndoItem[];
  readonly obstacles: readonly Obstacle[];
}

export function planUndo({ changes, contents }: Pick<ReadChanges, "changes" | "contents">): Wanted {
  const byPath = new Map<string, FileChange[]>();
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

/** Neither for a file that is as it was before, by the tools' own doing. */
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
    ? "was changed by somebody else between two changes of the tools"
    : "was being changed when its run was interrupted";
  return { item, obstacle: { path, why, canForce: true } };
}

/** Like nothing that can be there. */
const UNKNOWN: FileState = { kind: "other" };

interface Chain {
  readonly first: FileChange;
  readonly last: FileChange;
  /** Whether the file was something else between two changes than the first of them had left. */
  readonly isBroken: boolean;
}

/**
 * Changes of calls that ran at the same time are taken together: a command is seen to change what another call
 * changed meanwhile. They begin with the one that began first, and end with the one that ended last.
 */
function toChain(changes: readonly FileChange[]): Chain {
  const sorted = [...changes].sort((a, b) => a.sinceMs - b.sinceMs || a.atMs - b.atMs);
  const [first] = sorted as [FileChange, ...FileChange[]];
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

/** Null for what has no content, undefined for a file whose content is not kept. */
function findContent(
  state: FileState,
  contents: ReadonlyMap<string, ContentPlace>,
): ContentPlace | null | undefined {
  if (state.kind === "other") return undefined;
  if (state.kind !== "file") return null;
  return state.sha256 === null ? undefined : contents.get(state.sha256);
}
