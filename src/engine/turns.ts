/**
 * The queues of one process. Runs that wait for their turn have no owner, and any process with room takes the next.
 * The store decides what is taken, and in which order (`src/store/turns.ts`).
 */

import { Failure } from "../base/failure.ts";
import type { NewQueuedRun, NewRun } from "../store/journal.ts";
import type { Store } from "../store/store.ts";
import type { Queue, TakenTurn } from "../store/turns.ts";
import type { QueuedPlace, QueueLimits } from "./engine.ts";
import type { OwnedRun } from "./owned-run.ts";

export interface QueueTurns {
  define(queue: string, limits: QueueLimits): void;
  /** Writes the run down, with its place if it has one. False when it is there already. */
  create(run: NewRun | NewQueuedRun, place: QueuedPlace | undefined): Promise<boolean>;
  /** Resolves when the run has its turn. If it has to wait, gives the run up and rejects. */
  enter(owned: OwnedRun, queue: string, lane: string): Promise<void>;
  /** Takes the run's turn from it; it stays here, and waits for something else. */
  giveBack(owned: OwnedRun): Promise<void>;
  /** Called when a run is not run here any more. True if its turn, or its place here, is free. */
  leave(id: string): boolean;
  /** Set while runs are taken. */
  readonly taking: Promise<void> | undefined;
  /** Takes what there is room for. Joins a call that is in progress. */
  take(): Promise<void>;
  /** Takes nothing from here on, and gives no turns. */
  close(): void;
  /** Aborts with `close`. */
  readonly closed: AbortSignal;
}

interface TurnsParts {
  readonly store: Store;
  readonly owner: string;
  /** The newest version of journals that this program knows. */
  readonly journal: number;
  /** Called before a run is taken: an owner without a beat would count as dead. */
  readonly beat: () => Promise<void>;
  /** Runs what was taken. */
  readonly launch: (taken: TakenTurn) => Promise<unknown>;
}

export function createTurns(parts: TurnsParts): QueueTurns {
  return new EngineTurns(parts);
}

class EngineTurns implements QueueTurns {
  readonly #parts: TurnsParts;
  readonly #queues = new Map<string, QueueLimits>();
  /** The queues of runs that have, or ask for, a turn in this process. */
  readonly #here = new Map<string, string>();
  /** The queue from which a run is being taken, which needs room here too. */
  #takingFrom: string | undefined;
  #taking: Promise<void> | undefined;
  /** Set by a call while runs are taken: for room that came meanwhile, the search may be over already. */
  #isAskedAgain = false;
  readonly #closing = new AbortController();

  constructor(parts: TurnsParts) {
    this.#parts = parts;
  }

  define(queue: string, limits: QueueLimits): void {
    this.#queues.set(queue, limits);
  }

  async create(run: NewRun | NewQueuedRun, place: QueuedPlace | undefined): Promise<boolean> {
    const { store } = this.#parts;
    if (!place) return await store.createRun(run);
    const { name: queue, lane, maxWaiting } = place;
    const { atOnce } = this.#limitsOf(queue);
    const made = await store.createQueued(run, { queue, lane, maxWaiting, atOnce });
    if (made === "full") throw place.toFull();
    return made === "new";
  }

  async enter(owned: OwnedRun, queue: string, lane: string): Promise<void> {
    const { id } = owned.run;
    const { atOnce } = this.#limitsOf(queue);
    const hasRoom = this.#hasRoom(queue, id) && !this.closed.aborted;
    this.#here.set(id, queue);
    await owned.log.settled();
    const place = { queue, lane, atOnce: hasRoom ? atOnce : 0 };
    const hasTurn = await owned.write(() => this.#parts.store.awaitTurn(id, owned.epoch, place));
    if (hasTurn) return;
    const waits = new Failure("fenced", `Run ${id} waits for its turn.`);
    owned.lose(waits);
    throw waits;
  }

  async giveBack(owned: OwnedRun): Promise<void> {
    const { id } = owned.run;
    await owned.write(() => this.#parts.store.giveTurnBack(id, owned.epoch));
    this.#here.delete(id);
  }

  leave(id: string): boolean {
    return this.#here.delete(id);
  }

  get taking(): Promise<void> | undefined {
    return this.#taking;
  }

  take(): Promise<void> {
    if (this.#taking !== undefined) this.#isAskedAgain = true;
    this.#taking ??= this.#takeAll().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  close(): void {
    this.#closing.abort();
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  async #takeAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      await this.#takeOnce();
    } while (this.#isAskedAgain);
  }

  async #takeOnce(): Promise<void> {
    const { store, launch } = this.#parts;
    for (const [queue, { atOnce }] of this.#queues) {
      while (
        !this.closed.aborted &&
        this.#hasRoom(queue) &&
        (await store.countWaiting(queue)) > 0
      ) {
        const taken = await this.#takeFrom({ queue, atOnce });
        if (!taken) break;
        try {
          await launch(taken);
        } catch (thrown) {
          // It belongs to this process, which continues it at its next start. Until then it takes no room.
          this.#here.delete(taken.id);
          throw thrown;
        }
      }
    }
  }

  /** From the check of the room on, no run of this process gets the room that the taken one needs. */
  async #takeFrom(from: Queue): Promise<TakenTurn | undefined> {
    const { store, owner, journal, beat } = this.#parts;
    if (!this.#hasRoom(from.queue)) return undefined;
    this.#takingFrom = from.queue;
    try {
      await beat();
      const taken = await store.takeTurn(owner, from, journal);
      if (taken) this.#here.set(taken.id, from.queue);
      return taken;
    } finally {
      this.#takingFrom = undefined;
    }
  }

  #limitsOf(queue: string): QueueLimits {
    const limits = this.#queues.get(queue);
    if (limits) return limits;
    throw new Failure("internal", `The queue \`${queue}\` is not defined.`);
  }

  #hasRoom(queue: string, except?: string): boolean {
    const { here = Number.POSITIVE_INFINITY } = this.#limitsOf(queue);
    let count = this.#takingFrom === queue ? 1 : 0;
    for (const [id, other] of this.#here) if (other === queue && id !== except) count++;
    return count < here;
  }
}
