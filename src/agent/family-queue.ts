/** Those of a family that wait: children that need more, and children that are not let in yet. */

import { toAbortFailure } from "../base/async.ts";
import type { Amount } from "./limits.ts";
import type { Share } from "./share.ts";

/** Somebody in the queue. */
export interface Waiting {
  /** Undefined for one that is not let in yet. */
  readonly share: Share | undefined;
  /** What would let it go on. */
  readonly enough: Amount;
  /** Gives it that, if it is there. */
  readonly tryNow: () => boolean;
  /** Whether it waits for a process of its own. */
  readonly isFixed?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** How one that waits is told. */
interface Ending {
  tell(isGranted: boolean): void;
  refuse(reason: unknown): void;
}

/** What the queue knows of the family. */
interface QueueParts {
  /** Whether one more may have a process of its own. */
  hasProcess(): boolean;
  /** Whether some child works on: it gives back what it does not use. */
  isHoped(): boolean;
  /** Everybody waits: asks the run above for this one. Rejects where nobody could be asked. */
  askAbove(next: Waiting): Promise<unknown>;
}

export class FamilyQueue {
  readonly #waiting = new Map<Waiting, Ending>();
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

  /** Resolves when it is told whether it was given what it waits for. Rejects when its signal aborts. */
  wait(waiting: Waiting): Promise<boolean> {
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

  /** Serves those that wait, in their order, as far as what is free goes. Called when something came back. */
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

  /** What the run above gives is for the one that waits longest. */
  async #askAbove(next: Waiting): Promise<void> {
    this.#isAskingAbove = true;
    try {
      await this.#parts.askAbove(next);
    } catch (thrown) {
      // Nobody could be asked. One that was cancelled has left the queue.
      this.#waiting.get(next)?.refuse(thrown);
    } finally {
      this.#isAskingAbove = false;
    }
    const ending = this.#waiting.get(next);
    ending?.tell(next.tryNow());
    this.serve();
  }

  /**
   * Those that have begun are served before those that have not: each that ends gives something back. One
   * that waits for a process keeps nobody up that needs none.
   */
  #findNext(hasProcess: boolean): Waiting | undefined {
    let first: Waiting | undefined;
    let later: Waiting | undefined;
    for (const waiting of this.#waiting.keys()) {
      if (waiting.share) return waiting;
      if (waiting.isFixed && !hasProcess) later ??= waiting;
      else first ??= waiting;
    }
    return first ?? later;
  }
}
