/** The children of one run, for as long as this process has the run. */

import type { Json } from "../base/json.ts";
import type { ChildOptions, RunOutcome } from "./engine.ts";
import { waitForOutcome } from "./outcome.ts";
import type { OwnedRun } from "./owned-run.ts";

export interface ChildWork extends ChildOptions {
  readonly name: string;
  readonly input: Json;
}

export interface OwnChildren {
  /** Starts the child, or finds it: running here, running elsewhere, or ended. */
  start(parent: OwnedRun, key: string, work: ChildWork): Promise<string>;
  /** Waits for the child's ending, taking it over should its owner die. */
  result(id: string, signal: AbortSignal): Promise<RunOutcome>;
  /** Ends the child and what is below it, wherever it runs. */
  cancel(id: string): Promise<void>;
  /** The same, and waits for its ending, whatever the parent has been told. Rejects once the parent is lost. */
  end(id: string): Promise<RunOutcome>;
}

interface ChildrenParts {
  readonly seen: Parameters<typeof waitForOutcome>[0];
  readonly owned: Pick<OwnedRun, "lost">;
  readonly start: OwnChildren["start"];
  /** Takes over a child whose owner is gone. */
  adopt(id: string): Promise<void>;
  cancelTree(id: string): Promise<void>;
}

export function createOwnChildren(parts: ChildrenParts): OwnChildren {
  const { seen, owned, start, adopt, cancelTree } = parts;
  const look: typeof seen.look = async (id) => {
    if (owned.lost) throw owned.lost;
    return await seen.look(id);
  };
  return {
    start,
    result: (id, signal) => waitForOutcome(seen, id, signal, () => adopt(id)),
    // A run that another process has taken over has its children there.
    cancel: async (id) => void (owned.lost || (await cancelTree(id))),
    // Asked for again before each wait: one that was being taken out of a queue may not have heard it.
    end: (id) => waitForOutcome({ ...seen, look }, id, undefined, () => cancelTree(id)),
  };
}
