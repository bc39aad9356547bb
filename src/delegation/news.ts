/** That something happens among runs that work side by side: jobs that are done one after the other, and those who wait for news. */

import { throwIfAborted } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";

export interface News {
  /** Grows with all that happens: whoever looks at more than one thing sees whether they fit together. */
  readonly changes: number;
  /** How many jobs are not done. */
  readonly jobs: number;
  tell(): void;
  /** Resolves when something has happened, or the time is over. */
  changed(limitMs: number, signal: AbortSignal): Promise<void>;
  /** Does the job behind all before it; one that fails holds up nobody. */
  inOrder<Out>(job: () => Promise<Out>): Promise<Out>;
}

export function createNews(clock: Clock): News {
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
