/** The runs that begin with the ending of another, in the form that the store writes down. */

import type { Clock } from "../base/clock.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { NewQueuedRun } from "../store/journal.ts";
import type { Following } from "./engine.ts";

interface Starting {
  readonly clock: Clock;
  /** The newest version of journals that this program knows. */
  readonly journal: number;
}

/** Undefined if no run begins, as for nearly all runs. */
export function toStarts(
  ended: Pick<RunRecord, "id" | "parent_id" | "path" | "tenant" | "input" | "name">,
  followings: ReadonlyMap<string, Following>,
  { clock, journal }: Starting,
): readonly NewQueuedRun[] | undefined {
  const followers = followings.get(ended.name)?.(ended) ?? [];
  if (followers.length === 0) return undefined;
  const created_at_ms = clock.now();
  return followers.map(({ key, name, title, input, queue, lane }) => ({
    id: `${ended.id}/${key}`,
    parent_id: ended.id,
    path: `${ended.path}/${key}`,
    name,
    title,
    input,
    created_at_ms,
    journal,
    tenant: ended.tenant,
    owner: null,
    place: { queue, lane },
  }));
}
