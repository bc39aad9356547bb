/**
 * Subagents that run in any process that shares the record and has room. A queue for each depth: a run that waits for
 * its own children keeps its place, and must not keep the children from theirs.
 */

import { Failure } from "../base/failure.ts";
import type { PlaceOf } from "../delegation/executors/in-process.ts";
import type { DelegationSettings } from "../delegation/settings.ts";
import type { Engine } from "../engine/engine.ts";

/** `here` is how many of each depth this process works on at once. Without it none is left to others. */
export function defineSubagents(
  engine: Engine,
  { maxDepth }: Pick<DelegationSettings, "maxDepth">,
  here: number | undefined,
): PlaceOf | undefined {
  if (here === undefined) return undefined;
  const atOnce = Number.MAX_SAFE_INTEGER;
  for (let depth = 1; depth <= maxDepth; depth++) {
    engine.defineQueue(toQueue(depth), { atOnce, here });
  }
  return ({ depth, tenant }) => ({
    name: toQueue(depth),
    lane: tenant ?? "",
    maxWaiting: Number.MAX_SAFE_INTEGER,
    placement: "queue",
    toFull: () => new Failure("internal", "A queue without a limit is full."),
  });
}

function toQueue(depth: number): string {
  return `subagents ${depth}`;
}
