/**
 * Finds what a run is doing now: the record knows how it ended, or its owner, and the engine knows if the owner
 * lives.
 */

import type { Engine } from "../engine/engine.ts";
import type { Ending } from "../protocol/run-events.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import { AGENT_BODY } from "../runtime/agent-body.ts";
import { JOURNAL_VERSION } from "../store/journal-version.ts";

/**
 * `queued`: no process has it yet, or it waits for its turn. `interrupted`: its process is gone. `newer`: one of
 * these two, but only a newer Offshoot can continue it.
 */
export type RunState = Ending | "running" | "queued" | "interrupted" | "newer";

type Known = Pick<RunStatus, "id" | "name" | "ending" | "owner" | "journal">;

export type StateOf = (run: Known) => Promise<RunState>;

export function createStateOf(engine: Pick<Engine, "isHeld">): StateOf {
  return async (run) => {
    if (run.ending !== null) return run.ending;
    if (run.owner !== null && (await engine.isHeld(run))) return "running";
    if (run.journal > JOURNAL_VERSION) return "newer";
    // Runs of the command line never wait in a queue: their process died before it began.
    return run.owner === null && isServers(run) ? "queued" : "interrupted";
  };
}

/** True if a server began it: only a server can continue it. */
export function isServers({ name }: Pick<RunStatus, "name">): boolean {
  return name !== AGENT_BODY;
}
