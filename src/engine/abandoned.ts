/** Finds the unfinished runs that no process runs any more, and that this process may continue. */

import type { RunStatus } from "../protocol/run-record.ts";
import type { UnfinishedRun } from "../store/run-reader.ts";

interface AbandonedParts {
  /** True if this process runs it, or is about to. */
  isHere(id: string): boolean;
  hasBody(name: string): boolean;
  /** True if this program knows the run's journal; a newer journal belongs to a newer program. */
  knowsJournal(version: number): boolean;
  /** True if the owner is another process, and it lives. */
  isOther(owner: string): Promise<boolean>;
  /** True for a young run that was not claimed yet: the process that wrote it down may still claim it. */
  isYoung(createdAtMs: number): boolean;
}

interface TreeParts {
  /** Names of bodies. */
  readonly roots: readonly string[];
  /** Called for runs above an unfinished one that have ended. */
  statusOf(id: string): Promise<RunStatus | undefined>;
}

/**
 * The runs whose tree begins with a run of one of these names. If the root is gone, the topmost run that is left
 * counts.
 */
export async function findTrees(
  runs: readonly UnfinishedRun[],
  { roots, statusOf }: TreeParts,
): Promise<UnfinishedRun[]> {
  const above = new Map<string, Pick<UnfinishedRun, "name" | "parent_id"> | undefined>();
  for (const run of runs) above.set(run.id, run);
  const rootOf = async (run: UnfinishedRun): Promise<string> => {
    let { name, parent_id } = run;
    while (parent_id !== null) {
      if (!above.has(parent_id)) above.set(parent_id, await statusOf(parent_id));
      const parent = above.get(parent_id);
      if (parent === undefined) return name;
      ({ name, parent_id } = parent);
    }
    return name;
  };
  const found: UnfinishedRun[] = [];
  for (const run of runs) if (roots.includes(await rootOf(run))) found.push(run);
  return found;
}

/**
 * The topmost run of each tree. A child whose parent runs, here or elsewhere, or is taken over too, is left to that
 * parent, which takes it over when it reaches it: a tree stays together, and a child spends what its parent reserves
 * for it.
 */
export async function findAbandoned(
  runs: readonly UnfinishedRun[],
  parts: AbandonedParts,
): Promise<UnfinishedRun[]> {
  const found: UnfinishedRun[] = [];
  /** Runs that a process runs or will run. Runs are given oldest first, so that a parent comes before its children. */
  const kept = new Set<string>();
  const isOwned = createOwnedCheck(parts);
  for (const run of runs) {
    const { id, parent_id } = run;
    if (isQueued(run) && !parts.isHere(id)) continue;
    // The tree of a newer program belongs to that program, even if this one could continue a child of it.
    const isLeft = !parts.knowsJournal(run.journal) || (parent_id !== null && kept.has(parent_id));
    if (isLeft || (await isOwned(run))) kept.add(id);
    else if (parts.hasBody(run.name)) {
      kept.add(id);
      found.push(run);
    }
  }
  return found;
}

/** True if a process runs it, or is about to. Each owner is checked once. */
function createOwnedCheck(parts: AbandonedParts): (run: UnfinishedRun) => Promise<boolean> {
  const owners = new Map<string, Promise<boolean>>();
  return async ({ id, owner, created_at_ms }) => {
    if (parts.isHere(id)) return true;
    if (owner === null) return parts.isYoung(created_at_ms);
    const known = owners.get(owner) ?? parts.isOther(owner);
    owners.set(owner, known);
    return await known;
  };
}

/** A run that was begun and has no owner waits for its turn in a queue. */
export function isQueued({ owner, epoch }: Pick<UnfinishedRun, "owner" | "epoch">): boolean {
  return owner === null && epoch > 0;
}
