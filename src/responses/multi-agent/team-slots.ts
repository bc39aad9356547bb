/**
 * The number of a team's agents that work at once, counted over its whole tree except for its first agent.
 *
 * The count of one process is the count of all: the agents of a team run in the process of their first run. They are
 * started there (`executor: in_process`), and a process that takes the first run over takes them too, because a run
 * whose parent still works is not taken over by others (`Engine.start`). Writes of a process that was thought dead
 * are refused.
 */

import { createTurnstile, type Turnstile } from "../../base/turnstile.ts";

export interface TeamSlots {
  /** Resolves when there is room; call the returned function to leave. */
  enter(rootId: string, places: number, signal: AbortSignal): Promise<() => void>;
  /** Called when the first run of a team has ended. */
  forget(rootId: string): void;
}

export function createTeamSlots(): TeamSlots {
  const teams = new Map<string, Turnstile>();
  return {
    enter(rootId, places, signal) {
      const team = teams.get(rootId) ?? createTurnstile(places);
      teams.set(rootId, team);
      return team.enter(signal);
    },
    forget: (rootId) => void teams.delete(rootId),
  };
}
