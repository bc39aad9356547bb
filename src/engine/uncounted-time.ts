/** Time that does not count against a run's limit: a person is being asked, and takes as long as needed. */

import type { Clock } from "../base/clock.ts";

export interface Uncounted {
  /** The uncounted time until now, an open wait included. */
  until(nowMs: number): number;
  /** Begins a wait; the returned function ends it. Waits overlap as one. */
  begin(nowMs: number): (nowMs: number) => void;
}

export function createUncounted(): Uncounted {
  let total = 0;
  let open = 0;
  let since = 0;
  return {
    until: (nowMs) => total + (open > 0 ? nowMs - since : 0),
    begin(nowMs) {
      if (open++ === 0) since = nowMs;
      return (endMs) => {
        if (--open === 0) total += endMs - since;
      };
    },
  };
}

/** Waits for `work` without counting it against the time of any of these. */
export async function waitUncounted<Out>(
  runs: readonly { readonly uncounted: Uncounted }[],
  clock: Clock,
  work: () => Promise<Out>,
): Promise<Out> {
  const ends = runs.map(({ uncounted }) => uncounted.begin(clock.now()));
  try {
    return await work();
  } finally {
    for (const end of ends) end(clock.now());
  }
}
