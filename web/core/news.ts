/**
 * Changes on the server: one stream for the whole page, which lists and badges listen to. A tab has one stream at a
 * time: while a run is followed, this one is closed, and the run's own events report the changes.
 */

import { effect, signal } from "@preact/signals";
import { get } from "./api.ts";
import { follow } from "./follow.ts";
import { mayDo, session } from "./session.ts";
import type { QuestionView, RecordPage, WatchFrame } from "./views.ts";

/** Changes when lists of runs may look different. */
export const runNews = signal("");
/** The number of calls that wait for a person; undefined until it is known. */
export const openQuestions = signal<number | undefined>(undefined);
/** The reason why the page is not live; empty if it is. */
export const watchProblem = signal("");
/** The number of open streams of runs. */
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

/** Call it when a run is followed; call the returned function when that ends. */
export function holdNews(): () => void {
  runStreams.value += 1;
  watchProblem.value = "";
  return () => {
    runStreams.value -= 1;
  };
}

/** For code that follows a run, whose events say that a question was asked or answered. */
export async function countQuestions(): Promise<void> {
  const page = await get<RecordPage<QuestionView>>("approvals", { limit: 100 });
  openQuestions.value = page.data.length;
}
