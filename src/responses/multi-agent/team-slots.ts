/** How many agents of a team work at once, counted over its whole tree but for its head. */

import { createTurnstile, type Turnstile } from "../../base/turnstile.ts";

export interface TeamSlots {
  /** Resolves when there is room; call what it resolves with to leave. */
  enter(rootId: string, places: number, signal: AbortSignal): Promise<() => void>;
  /** Called when the head of a team has ended. */
  forget(rootId: string): void;
}

/** Of one process: agents that another one took over are counted there. */
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
