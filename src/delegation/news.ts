/** News of runs that work at the same time: jobs that are done one after the other, and waits for the next change. */

import { throwIfAborted } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";

export interface ChildrenNews {
  /** Grows with each change: a reader of several values can see whether they belong to one moment. */
  readonly changes: number;
  /** How many jobs are not done. */
  readonly jobs: number;
  tell(): void;
  /** Resolves when something has changed, or the time is over. */
  changed(limitMs: number, signal: AbortSignal): Promise<void>;
  /** Runs the job after all jobs before it; a job that fails does not stop the next ones. */
  inOrder<Out>(job: () => Promise<Out>): Promise<Out>;
}

export function createNews(clock: Clock): ChildrenNews {
  let listeners: (() => void)[] = [];
  let changes = 0;
  let jobs = 0;
  let tail: Promise<unknown> = Promise.resolve();

  const tell = (): void => {
    changes++;
    const told = listeners;
    listeners = [];
    for (const listener of told) listener();
  };
  return {
    get changes() {
      return changes;
    },
    get jobs() {
      return jobs;
    },
    tell,
    async changed(limitMs, signal) {
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      const news = new Promise<void>((resolve) => listeners.push(resolve));
      const late = clock.sleep(limitMs, either).catch(() => {});
      await Promise.race([news, late]);
      over.abort();
      throwIfAborted(signal);
    },
    inOrder(job) {
      jobs++;
      const done = tail.then(job).finally(() => {
        jobs--;
        tell();
      });
      tail = done.catch(() => {});
      return done;
    },
  };
}
