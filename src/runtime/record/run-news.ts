/** Tells whoever watches a list that it has changed. One look at the record a second, however many watch. */

import type { Clock } from "../../base/clock.ts";
import type { RunIndex, RunNews } from "../../store/run-index.ts";
import type { Viewer } from "./found-runs.ts";
import type { WatchFrame } from "./views.ts";

export interface RunWatch {
  /** The first frame at once, then one for each change, until the signal aborts. */
  watch(viewer: Viewer, signal: AbortSignal): AsyncGenerator<WatchFrame>;
}

/** What a list may be behind. */
const LOOK_MS = 1000;

export function createRunWatch(index: Pick<RunIndex, "readNews">, clock: Clock): RunWatch {
  const looks = new Map<string | undefined, { readonly atMs: number; news: Promise<RunNews> }>();
  const look = ({ tenant }: Viewer): Promise<RunNews> => {
    const known = looks.get(tenant);
    const nowMs = clock.now();
    if (known && nowMs - known.atMs < LOOK_MS) return known.news;
    const news = index.readNews(tenant);
    looks.set(tenant, { atMs: nowMs, news });
    return news;
  };
  return {
    async *watch(viewer, signal) {
      for (let told: RunNews | undefined; !signal.aborted; ) {
        const news = await look(viewer);
        if (news.version !== told?.version) yield { runs: news.version, questions: news.waiting };
        told = news;
        // The client has gone away, or the server stops.
        await clock.sleep(LOOK_MS, signal).catch(() => {});
      }
    },
  };
}
