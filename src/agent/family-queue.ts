/** The waiting children of a family: those that need more budget, and those that are not admitted yet. */

import { toAbortFailure } from "../base/async.ts";
import type { Amount } from "./limits.ts";
import type { Share } from "./share.ts";

/** One entry of the queue. */
export interface WaitingMember {
  /** Undefined for a child that is not admitted yet. */
  readonly share: Share | undefined;
  /** The amount that would let it continue. */
  readonly enough: Amount;
  /** Gives it that amount if it is available. Returns whether it did. */
  readonly tryNow: () => boolean;
  /** True if it waits for a process of its own. */
  readonly isFixed?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** How the end of its wait is reported. */
interface Ending {
  tell(isGranted: boolean): void;
  refuse(reason: unknown): void;
}

/** The parts of a family that its queue works with. */
interface QueueParts {
  /** True if one more child may have a process of its own. */
  hasProcess(): boolean;
  /** True if some child still works: it will return what it does not use. */
  isHoped(): boolean;
  /** When all children wait: asks the run above for this one. Rejects if the source of the money cannot be asked. */
  askAbove(next: WaitingMember): Promise<unknown>;
}

export class FamilyQueue {
  readonly #waiting = new Map<WaitingMember, Ending>();
  readonly #parts: QueueParts;
  #isAskingAbove = false;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** The children that wait. */
  get shares(): ReadonlySet<Share | undefined> {
    return new Set([...this.#waiting.keys()].map(({ share }) => share));
  }

  /** Resolves with whether it was given what it waits for. Rejects when its signal aborts. */
  wait(waiting: WaitingMember): Promise<boolean> {
    const { signal } = waiting;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiting);
        reject(toAbortFailure(signal));
        this.serve();
      };
      const end = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener("abort", giveUp);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.set(waiting, {
        tell(isGranted) {
          end();
          resolve(isGranted);
        },
        refuse(reason) {
          end();
          reject(reason);
        },
      });
      if (signal.aborted) giveUp();
      else this.serve();
    });
  }

  /**
   * Serves waiting children in their order, as far as the available budget goes. Called when something was returned.
   */
  serve(): void {
    for (;;) {
      const next = this.#findNext(this.#parts.hasProcess());
      if (!next) return;
      if (next.tryNow()) this.#waiting.get(next)?.tell(true);
      else {
        if (!this.#parts.isHoped() && !this.#isAskingAbove) void this.#askAbove(next);
        return;
      }
    }
  }

  /** Asks the run above for budget, for the child that has waited longest. */
  async #askAbove(next: WaitingMember): Promise<void> {
    this.#isAskingAbove = true;
    try {
      await this.#parts.askAbove(next);
    } catch (thrown) {
      // The source could not be asked. A child that was cancelled has left the queue.
      this.#waiting.get(next)?.refuse(thrown);
    } finally {
      this.#isAskingAbove = false;
    }
    const ending = this.#waiting.get(next);
    ending?.tell(next.tryNow());
    this.serve();
  }

  /**
   * Children that have begun are served before those that have not: each that ends returns something. A child that
   * waits for a process does not block those that need none.
   */
  #findNext(hasProcess: boolean): WaitingMember | undefined {
    let first: WaitingMember | undefined;
    let later: WaitingMember | undefined;
    for (const waiting of this.#waiting.keys()) {
      if (waiting.share) return waiting;
      if (waiting.isFixed && !hasProcess) later ??= waiting;
      else first ??= waiting;
    }
    return first ?? later;
  }
}

/** Wakes all who wait for something to change. They look whether it was for them, and wait again. */
export class Bell {
  readonly #waiting: (() => void)[] = [];

  ring(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves with the next ring, and when the signal is aborted. */
  heard(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
