/** The runs that begin with the ending of another, as the store writes them down. */

import type { Clock } from "../base/clock.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { StartedRun } from "../store/journal.ts";
import type { Following } from "./engine.ts";

interface Starting {
  readonly clock: Clock;
  /** The newest version of journals that this program knows. */
  readonly journal: number;
}

/** Undefined where none does, which is so for nearly all runs. */
export function toStarts(
  ended: Pick<RunRecord, "id" | "parent_id" | "path" | "tenant" | "input" | "name">,
  followings: ReadonlyMap<string, Following>,
  { clock, journal }: Starting,
): readonly StartedRun[] | undefined {
  const followers = followings.get(ended.name)?.(ended) ?? [];
  if (followers.length === 0) return undefined;
  const created_at_ms = clock.now();
  return followers.map(({ key, name, title, input, queue, lane }) => ({
    id: `${ended.id}/${key}`,
    parent_id: ended.id,
    path: `${ended.path}/${key}`,
    ...{ name, title, input, created_at_ms, journal },
    tenant: ended.tenant,
    owner: null,
    place: { queue, lane },
  }));
}
