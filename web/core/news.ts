/**
 * What has changed on the server: one stream for the whole page, which lists and badges listen to. A tab has one stream
 * at a time: while a run is followed, this one is closed, and the run's own events bring the news.
 */

import { effect, signal } from "@preact/signals";
import { get } from "./api.ts";
import { follow } from "./follow.ts";
import { mayDo, session } from "./session.ts";
import type { Page, QuestionView, WatchFrame } from "./views.ts";

/** Another value where lists of runs may look different. */
export const runNews = signal("");
/** How many calls wait for a person; undefined until it is known. */
export const openQuestions = signal<number | undefined>(undefined);
/** Why the page is not live; empty where it is. */
export const watchProblem = signal("");
/** How many streams of runs are open. */
const runStreams = signal(0);

effect(() => {
  const isWanted = session.value !== undefined && mayDo("runs") && runStreams.value === 0;
  if (!isWanted) return;
  const stop = new AbortController();
  void follow(
    {
      path: "watch",
      query: () => ({}),
      take(data) {
        const { runs, questions } = data as WatchFrame;
        runNews.value = runs;
        openQuestions.value = questions;
      },
      state(problem) {
        watchProblem.value = problem?.message ?? "";
      },
    },
    stop.signal,
  );
  return () => stop.abort();
});

/** Call it when a run is followed; what it returns when that ends. */
export function holdNews(): () => void {
  runStreams.value += 1;
  watchProblem.value = "";
  return () => {
    runStreams.value -= 1;
  };
}

/** For who follows a run, whose events tell that a question was asked or answered. */
export async function countQuestions(): Promise<void> {
  const page = await get<Page<QuestionView>>("approvals", { limit: 100 });
  openQuestions.value = page.data.length;
}
