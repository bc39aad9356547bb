/** The turns of a connection by the ids of their responses: those that run, and the last that have ended. */

import type { Caller } from "../../responses/tenant/caller.ts";
import type { CreateEvent } from "./client-event.ts";

export interface RunningTurn {
  readonly responseId: string;
  readonly event: CreateEvent;
  readonly caller: Caller;
  /** Of the last event that was told. */
  sequenceNumber: number;
}

export interface Turns {
  begin(turn: RunningTurn): void;
  find(responseId: string): RunningTurn | undefined;
  end(responseId: string): void;
  hasEnded(responseId: string): boolean;
}

/** Clients speak of the response that has just ended, hardly of earlier ones. */
const MAX_ENDED = 64;

export function createTurns(): Turns {
  const running = new Map<string, RunningTurn>();
  const ended = new Set<string>();
  return {
    begin: (turn) => void running.set(turn.responseId, turn),
    find: (id) => running.get(id),
    end(id) {
      running.delete(id);
      ended.add(id);
      const [oldest] = ended;
      if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest);
    },
    hasEnded: (id) => ended.has(id),
  };
}
