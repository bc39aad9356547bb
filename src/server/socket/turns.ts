/**
 * The turns of a connection by the ids of their responses: the running ones, and the last that have ended.
 */

import type { Caller } from "../../responses/tenant/caller.ts";
import type { CreateEvent } from "./client-event.ts";

export interface RunningTurn {
  readonly responseId: string;
  readonly event: CreateEvent;
  readonly caller: Caller;
  /** Number of the last event that was sent. */
  sequenceNumber: number;
}

export interface SocketTurns {
  begin(turn: RunningTurn): void;
  find(responseId: string): RunningTurn | undefined;
  end(responseId: string): void;
  hasEnded(responseId: string): boolean;
}

/** Clients refer to the response that has just ended, rarely to earlier ones. */
const MAX_ENDED = 64;

export function createTurns(): SocketTurns {
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
