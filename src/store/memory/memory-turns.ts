/** Turns in maps, for the store in memory. */

import type { LaneState } from "../record-state.ts";
import { isFull, type NewPlace, type Queue, type QueuePlace } from "../turns.ts";

interface Place extends Lane {
  hasTurn: boolean;
}

type Lane = Pick<QueuePlace, "queue" | "lane">;

export class MemoryTurns {
  /** The places of runs that have not ended, in the order in which they came. */
  readonly #places = new Map<string, Place>();
  /** When each lane had its last turn, by queue and lane. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;

  isFull(place: NewPlace): boolean {
    const all = this.#of(place.queue);
    const waiting = all.filter(([, { hasTurn }]) => !hasTurn);
    const ofLane = waiting.filter(([, { lane }]) => lane === place.lane).length;
    const inside = all.length - waiting.length;
    return isFull(place, { inside, waiting: waiting.length, ofLane });
  }

  add(id: string, place: Lane): void {
    if (!this.#places.has(id)) this.#places.set(id, { ...place, hasTurn: false });
  }

  /** `isTakeable` returns whether a run has no owner. */
  await(id: string, place: QueuePlace, isTakeable: (id: string) => boolean): boolean {
    this.add(id, place);
    const own = this.#places.get(id);
    if (own?.hasTurn) return true;
    const others = this.countWaiting(place.queue, isTakeable) > 0;
    if (!own || others || !this.#hasRoom(place)) return false;
    this.#give(own);
    return true;
  }

  countWaiting(queue: string, isTakeable: (id: string) => boolean): number {
    return this.#of(queue).filter(([id, { hasTurn }]) => !hasTurn && isTakeable(id)).length;
  }

  take(queue: Queue, isTakeable: (id: string) => boolean): string | undefined {
    if (!this.#hasRoom(queue)) return undefined;
    const waiting = this.#of(queue.queue).filter(([id, { hasTurn }]) => !hasTurn && isTakeable(id));
    // The sort is stable: within a lane the oldest stays first.
    const [next] = waiting.sort(([, a], [, b]) => this.#lastOf(a) - this.#lastOf(b));
    if (!next) return undefined;
    this.#give(next[1]);
    return next[0];
  }

  /** By queue and lane. */
  lanes(createdAt: (id: string) => number): LaneState[] {
    const lanes = new Map<string, [id: string, place: Place][]>();
    for (const [id, place] of this.#places) {
      const name = JSON.stringify([place.queue, place.lane]);
      lanes.set(name, [...(lanes.get(name) ?? []), [id, place]]);
    }
    return [...lanes.values()].flatMap((places) => {
      const [first] = places;
      const waiting = places.filter(([, { hasTurn }]) => !hasTurn).map(([id]) => createdAt(id));
      const counts = { running: places.length - waiting.length, waiting: waiting.length };
      const oldest_at_ms = waiting.length === 0 ? null : Math.min(...waiting);
      return first ? [{ queue: first[1].queue, lane: first[1].lane, ...counts, oldest_at_ms }] : [];
    });
  }

  giveBack(id: string): void {
    const place = this.#places.get(id);
    if (place) place.hasTurn = false;
  }

  forget(id: string): void {
    this.#places.delete(id);
  }

  #of(queue: string): [string, Place][] {
    return [...this.#places].filter(([, place]) => place.queue === queue);
  }

  #hasRoom({ queue, atOnce }: Queue): boolean {
    return this.#of(queue).filter(([, { hasTurn }]) => hasTurn).length < atOnce;
  }

  #give(place: Place): void {
    place.hasTurn = true;
    this.#lastTurns.set(toKey(place), ++this.#turns);
  }

  #lastOf(place: Place): number {
    return this.#lastTurns.get(toKey(place)) ?? 0;
  }
}

function toKey({ queue, lane }: Lane): string {
  return JSON.stringify([queue, lane]);
}
