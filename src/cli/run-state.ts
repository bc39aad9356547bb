/** What a run is doing now: the record knows how it ended, or who owns it, and owners live or do not. */

import { openOwners } from "../engine/owners.ts";
import type { Ending } from "../protocol/run-events.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import { AGENT_BODY } from "../runtime/agent-body.ts";
import type { Store } from "../store/store.ts";

/** `queued`: no process has it yet, or it waits for its turn. `interrupted`: its process is gone. */
export type RunState = Ending | "running" | "queued" | "interrupted";

type Known = Pick<RunStatus, "id" | "name" | "ending" | "owner">;

export type StateOf = (run: Known) => Promise<RunState>;

export function createStateOf(store: Store): StateOf {
  const owners = openOwners(store);
  return async (run) => {
    if (run.ending !== null) return run.ending;
    // Runs of the command line wait in no queue: their process died before it began.
    if (run.owner === null) return isServers(run) ? "queued" : "interrupted";
    return (await owners.has(run)) ? "running" : "interrupted";
  };
}

/** Whether a server began it, which alone can go on with it. */
export function isServers({ name }: Pick<RunStatus, "name">): boolean {
  return name !== AGENT_BODY;
}
