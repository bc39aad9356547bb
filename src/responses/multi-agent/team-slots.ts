/**
 * How many agents of a team work at once, counted over its whole tree except for its head.
 *
 * The count of one process is the count of all: the agents of a team run where their head runs. They are started
 * there (`executor: in_process`), and whoever takes the head over takes them along, because nobody else takes over a
 * run whose parent goes on (`Engine.start`). What a process still does that was thought dead is fenced off.
 */

import { createTurnstile, type Turnstile } from "../../base/turnstile.ts";

export interface TeamSlots {
  /** Resolves when there is room; call what it resolves with to leave. */
  enter(rootId: string, places: number, signal: AbortSignal): Promise<() => void>;
  /** Called when the head of a team has ended. */
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
