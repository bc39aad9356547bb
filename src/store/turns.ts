/**
 * Runs that take turns: a limited number of a queue run at once, over all processes that share the store, and the
 * others wait without an owner until one of them is given the next turn. Turns go round the lanes of a queue (a lane
 * is a tenant), and within one to the oldest.
 */

import type { NewQueuedRun, NewRun } from "./journal.ts";

/** The part of a store that gives turns. All stores pass `test/store/turns-contract.ts`. */
export interface TurnStore {
  /**
   * Writes a run down together with its place in a queue. `full`, and no change, if its lane has no room. A
   * `NewQueuedRun` may be taken at once.
   */
  createQueued(run: NewRun | NewQueuedRun, place: NewPlace): Promise<"new" | "known" | "full">;
  /**
   * True once the run has its turn, which it keeps until it ends. False if it has to wait: it has no owner from then
   * on. Refused with `fenced` for an earlier epoch.
   */
  awaitTurn(id: string, epoch: number, place: QueuePlace): Promise<boolean>;
  /**
   * Takes from a run the turn that it may have. It keeps its place and its owner, and is given no turn before it asks
   * again. Refused with `fenced` for an earlier epoch.
   */
  giveTurnBack(id: string, epoch: number): Promise<void>;
  /** How many wait that may be given a turn. */
  countWaiting(queue: string): Promise<number>;
  /**
   * Gives the next turn of a queue and makes `owner` the owner, in one transaction; the new epoch is journaled under
   * `TURN_KEY`. Undefined if no run waits whose journal the owner knows (as in `Store.claim`), or the limit is
   * reached.
   */
  takeTurn(owner: string, queue: Queue, journal?: number): Promise<TakenTurn | undefined>;
}

export interface Queue {
  readonly queue: string;
  /** How many have their turn at once, in all processes. */
  readonly atOnce: number;
}

export interface QueuePlace extends Queue {
  readonly lane: string;
}

export interface NewPlace extends QueuePlace {
  /** How many of a lane may wait. */
  readonly maxWaiting: number;
}

export interface TakenTurn {
  readonly id: string;
  readonly epoch: number;
}

/** Journal key of the epoch that a run was given with its turn: no owner died before it. */
export const TURN_KEY = "@turn";

interface Waiting {
  /** How many have their turn. */
  readonly inside: number;
  readonly waiting: number;
  readonly ofLane: number;
}

/** Runs for which there is room are about to begin, and do not count as waiting. */
export function isFull({ atOnce, maxWaiting }: NewPlace, counted: Waiting): boolean {
  const room = Math.max(atOnce - counted.inside, 0);
  return counted.waiting >= room && counted.ofLane >= maxWaiting + room;
}
