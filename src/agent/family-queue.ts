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

export class FamilyQueue {
  readonly #waiting = new Map<Waiting, Ending>();
  readonly #serve: () => void;

  /** `serve` is called when somebody comes, and when somebody gives up. */
  constructor(serve: () => void) {
    this.#serve = serve;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** The children that wait. */
  get shares(): ReadonlySet<Share | undefined> {
    return new Set([...this.#waiting.keys()].map(({ share }) => share));
  }

  has(waiting: Waiting): boolean {
    return this.#waiting.has(waiting);
  }

  /** Resolves when it is told whether it was given what it waits for. Rejects when its signal aborts. */
  wait(waiting: Waiting): Promise<boolean> {
    const { signal } = waiting;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiting);
        reject(toAbortFailure(signal));
        this.#serve();
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
      else this.#serve();
    });
  }

  tell(waiting: Waiting, isGranted: boolean): void {
    this.#waiting.get(waiting)?.tell(isGranted);
  }

  /** Nobody could be asked for what it waits for. */
  refuse(waiting: Waiting, reason: unknown): void {
    this.#waiting.get(waiting)?.refuse(reason);
  }

  /**
   * Those that have begun are served before those that have not: each that ends gives something back. One
   * that waits for a process keeps nobody up that needs none.
   */
  findNext(hasProcess: boolean): Waiting | undefined {
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
