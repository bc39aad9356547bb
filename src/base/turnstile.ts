/** Admits a limited number at the same time; the others wait in the order they came. */

import { throwIfAborted, toAbortFailure } from "./async.ts";

export interface Turnstile {
  /**
   * Resolves when there is room; calls `onWait` if it has to wait. Call the returned function to leave; a
   * second call does nothing.
   */
  enter(signal: AbortSignal, onWait?: () => void): Promise<() => void>;
  readonly inside: number;
  readonly waiting: number;
}

export function createTurnstile(places: number): Turnstile {
  const waiting = new Set<() => void>();
  let inside = 0;

  const leave = (): void => {
    const [next] = waiting;
    if (!next) {
      inside--;
      return;
    }
    waiting.delete(next);
    next();
  };
  return {
    async enter(signal, onWait) {
      throwIfAborted(signal);
      if (inside < places) inside++;
      else {
        onWait?.();
        await wait(waiting, signal);
      }
      let isIn = true;
      return () => {
        if (isIn) leave();
        isIn = false;
      };
    },
    get inside() {
      return inside;
    },
    get waiting() {
      return waiting.size;
    },
  };
}

/** Waits in line. A wait that is given up has no place to give back. */
function wait(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = (): void => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    const giveUp = (): void => {
      waiting.delete(enter);
      reject(toAbortFailure(signal));
    };
    waiting.add(enter);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}
