/** Waits for a run's ending, whichever process runs it. */

import type { RunStatus } from "../protocol/run-record.ts";
import type { Store } from "../store/store.ts";
import { readOutcome } from "./ending.ts";
import type { RunOutcome } from "./engine.ts";
import { NEWS_POLL_MS, POLL_MS } from "./follow.ts";
import type { Hub } from "./hub.ts";
import type { Look } from "./look.ts";

interface OutcomeParts {
  readonly store: Store;
  readonly hub: Hub;
  isOwned(id: string): boolean;
  readonly look: Look;
}

/** `tend` is called before each wait: it may take the run over. */
export async function waitForOutcome(
  parts: OutcomeParts,
  id: string,
  signal: AbortSignal | undefined,
  tend: () => Promise<void>,
): Promise<RunOutcome> {
  return await readOutcome(parts.store, await waitForEnd(parts, id, signal, tend));
}

/** Returns the status of the ended run, without its result: cheap, however large that is. */
export async function waitForEnd(
  { store, hub, isOwned, look }: OutcomeParts,
  id: string,
  signal: AbortSignal | undefined,
  tend: () => Promise<void>,
): Promise<RunStatus> {
  const listener = hub.listen(id, 0);
  try {
    for (;;) {
      const run = await look(id);
      if (run.status === "ended") return run;
      await tend();
      // A run of this process wakes its waiters when it ends; others must be polled.
      const pollMs = store.news?.isLive ? NEWS_POLL_MS : POLL_MS;
      await listener.wait(isOwned(id) ? undefined : pollMs, signal);
    }
  } finally {
    listener.close();
  }
}
