/** Follows a run, or a whole tree, in frames of the API. */

import type { Clock } from "../../base/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RunIndex, RunRow } from "../../store/run-index.ts";
import { EVENT_CHARS, toEventViews } from "./event-view.ts";
import { type FollowedRun, followTree } from "./follow-tree.ts";
import type { EventsWish } from "./log-pages.ts";
import type { FollowFrame } from "./views.ts";

export interface FollowWish extends Pick<EventsWish, "types" | "maxChars"> {
  /** The last known event of the run, -1 for none. Runs below it are sent from their beginning. */
  readonly after: number;
  /** All runs below it too: from their beginnings, or with `live` from now on. */
  readonly tree: boolean | "live";
  /** True to skip the events that are there already. */
  readonly fromNow: boolean;
}

interface FollowParts {
  readonly index: RunIndex;
  readonly engine: Engine;
  readonly clock: Clock;
}

/** Each has at most 64 K characters, which are up to 192 KB: a frame stays below 2 MB. */
const FRAME_EVENTS = 10;

export async function* followRun(
  parts: FollowParts,
  id: string,
  wish: FollowWish,
  signal: AbortSignal,
): AsyncGenerator<FollowFrame> {
  const { types, maxChars = EVENT_CHARS } = wish;
  const batches = wish.tree
    ? followTree({ ...parts, ...(await startsOf(parts, id, wish)), signal })
    : parts.engine.follow(id, await startOf(parts, id, wish), signal);
  for await (const batch of batches) {
    const [first] = batch;
    const wanted = types ? batch.filter(({ event }) => types.includes(event.type)) : batch;
    // A batch that was read from the record may be as long as a page of it.
    for (let at = 0; first && at < wanted.length; at += FRAME_EVENTS) {
      const events = toEventViews(wanted.slice(at, at + FRAME_EVENTS), maxChars);
      yield { run_id: first.run_id, events };
    }
  }
}

async function startOf(
  { engine }: Pick<FollowParts, "engine">,
  id: string,
  { after, fromNow }: FollowWish,
): Promise<number> {
  return fromNow ? ((await engine.status(id))?.next_seq ?? 0) - 1 : after;
}

async function startsOf(
  parts: FollowParts,
  id: string,
  wish: FollowWish,
): Promise<{ readonly runs: readonly FollowedRun[]; readonly past: readonly string[] }> {
  const runs = await parts.index.listTree(id);
  const isLive = wish.fromNow || wish.tree === "live";
  const isPast = (run: RunRow): boolean => isLive && run.id !== id && run.status === "ended";
  const wanted = runs.filter((run) => !isPast(run));
  const starts = wanted.map(async (run) => {
    const from = run.id === id ? wish : { ...wish, after: -1, fromNow: isLive };
    return { id: run.id, after: await startOf(parts, run.id, from) };
  });
  return { runs: await Promise.all(starts), past: runs.filter(isPast).map((run) => run.id) };
}
