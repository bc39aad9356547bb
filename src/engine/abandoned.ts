/** Which of the unfinished runs nobody runs any more, and may be gone on with here. */

import type { RunStatus } from "../protocol/run-record.ts";
import type { UnfinishedRun } from "../store/store.ts";

interface AbandonedParts {
  /** Whether this process runs it, or is about to. */
  isHere(id: string): boolean;
  hasBody(name: string): boolean;
  /** Whether this is another process, and it lives. */
  isOther(owner: string): Promise<boolean>;
  /** Whether a run of this age that nobody has claimed may still be by whoever wrote it down. */
  isYoung(createdAtMs: number): boolean;
}

interface TreeParts {
  /** Names of bodies. */
  readonly roots: readonly string[];
  /** Asked about runs above an unfinished one that have ended. */
  statusOf(id: string): Promise<RunStatus | undefined>;
}

/** Those whose tree begins with a run of one of these names. A tree whose root is gone counts by what is left. */
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
 * Oldest first, so that a parent comes before its children. A child whose parent is in good hands, here or
 * elsewhere, is left to that parent, which takes it over when it comes to it: a tree stays together. A parent
 * that this process is about to take over may still go to another.
 */
export async function findAbandoned(
  runs: readonly UnfinishedRun[],
  parts: AbandonedParts,
): Promise<UnfinishedRun[]> {
  const found: UnfinishedRun[] = [];
  const inHands = new Set<string>();
  const owners = new Map<string, boolean>();
  for (const run of runs) {
    const { id, owner, parent_id } = run;
    if (isQueued(run)) continue;
    if (owner !== null && !owners.has(owner)) owners.set(owner, await parts.isOther(owner));
    const isOwned = owner === null ? parts.isYoung(run.created_at_ms) : owners.get(owner);
    const isLeft = parent_id !== null && inHands.has(parent_id);
    if (isOwned || isLeft || parts.isHere(id)) inHands.add(id);
    else if (parts.hasBody(run.name)) found.push(run);
  }
  return found;
}

/** One that was begun and has no owner waits for its turn in a queue. */
export function isQueued({ owner, epoch }: Pick<UnfinishedRun, "owner" | "epoch">): boolean {
  return owner === null && epoch > 0;
}

/**
 * Takes them over in their order; returns the ids of those that it got. A parent that is replayed may
 * start its child before that child's turn comes here: they join.
 */
export async function takeOver(
  runs: readonly UnfinishedRun[],
  take: (run: UnfinishedRun) => Promise<boolean>,
): Promise<string[]> {
  const taken: string[] = [];
  const missed = new Set<string>();
  for (const run of runs) {
    const { id, parent_id } = run;
    const isLeft = parent_id !== null && missed.has(parent_id);
    if (!isLeft && (await take(run))) taken.push(id);
    else missed.add(id);
  }
  return taken;
}
