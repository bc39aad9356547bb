/** The runs of this process, as the trees that they form. */

import type { Failure } from "../base/failure.ts";
import type { OwnedRun } from "./owned-run.ts";

type OwnedRuns = ReadonlyMap<string, OwnedRun>;

/** The owned runs below this one, at any depth, whether it is here itself or not. */
export function findBelow(runs: OwnedRuns, id: string): OwnedRun[] {
  const below = [...runs.values()].filter(({ run }) => run.parent_id === id);
  return below.flatMap((owned) => [owned, ...findBelow(runs, owned.run.id)]);
}

/** The run and those above it. */
export function findAbove(runs: OwnedRuns, owned: OwnedRun): OwnedRun[] {
  const above = runs.get(owned.run.parent_id ?? "");
  return above ? [owned, ...findAbove(runs, above)] : [owned];
}

/** Tells them to come to their ends; those that were told before keep their reason. */
export function abortAll(runs: readonly OwnedRun[], reason: Failure): void {
  for (const { abort } of runs) abort(reason);
}

/** Lets each run check whether another process has taken it over meanwhile; such a run stops. */
export function confirmAll(runs: OwnedRuns): void {
  // A run that cannot check now is refused with its next write.
  for (const { confirm } of runs.values()) confirm().catch(() => {});
}
