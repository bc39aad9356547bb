/** Waiting for a run's ending, whoever runs it. */

import { toUnknownRun } from "../store/refusal.ts";
import type { Store } from "../store/store.ts";
import { readOutcome } from "./ending.ts";
import type { RunOutcome } from "./engine.ts";
import { NEWS_POLL_MS, POLL_MS } from "./follow.ts";
import type { Hub } from "./hub.ts";

interface OutcomeParts {
  readonly store: Store;
  readonly hub: Hub;
  isOwned(id: string): boolean;
  /** Throws when there is nothing to wait for any more. */
  check(id: string): void;
}

/** `tend` is called before each wait: it may take the run over. */
export async function waitForOutcome(
  { store, hub, isOwned, check }: OutcomeParts,
  id: string,
  signal: AbortSignal | undefined,
  tend: () => Promise<void>,
): Promise<RunOutcome> {
  const listener = hub.listen(id, 0);
  try {
    for (;;) {
      check(id);
      const run = await store.getRunStatus(id);
      if (!run) throw toUnknownRun(id);
      if (run.status === "ended") return await readOutcome(store, run);
      await tend();
      // A run of this process rings when it ends; others must be looked at.
      const pollMs = store.news?.isLive ? NEWS_POLL_MS : POLL_MS;
      await listener.wait(isOwned(id) ? undefined : pollMs, signal);
    }
  } finally {
    listener.close();
  }
}
