/**
 * News of runs inside this process: new events for those who follow, and a ring for those who wait.
 * It only makes things faster: whoever listens must find the same in the store.
 */

import type { Clock } from "../base/clock.ts";
import type { LoggedEvent, RunEvent } from "../protocol/run-events.ts";

export interface Hub {
  /** Listens to one run until `close`. Keeps at most `maxEvents` that were not taken yet. */
  listen(id: string, maxEvents: number): Listener;
  /** Tells of events that are in the store already. Costs nothing when nobody listens. */
  publish(id: string, firstSeq: number, events: readonly RunEvent[]): void;
  /** Wakes everyone who waits for this run: it ended, was lost, or has a message. */
  ring(id: string): void;
  ringAll(): void;
}

export interface Listener {
  /** Forgets what was heard so far; called before reading the store, which has it all. */
  reset(): void;
  /** What was published since, in order; undefined when it was more than this listener keeps. */
  take(): readonly (readonly LoggedEvent[])[] | undefined;
  /** Until the next ring or `ms` later. Returns at once when it rang since the last wait. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
  close(): void;
}

export function createHub(clock: Clock): Hub {
  const listeners = new Map<string, Set<RunListener>>();

  const ring = (id: string): void => {
    for (const listener of listeners.get(id) ?? []) listener.ring();
  };
  return {
    listen(id, maxEvents) {
      const others = listeners.get(id) ?? new Set();
      const close = (listener: RunListener): void => {
        others.delete(listener);
        if (others.size === 0 && listeners.get(id) === others) listeners.delete(id);
      };
      const listener = new RunListener(clock, maxEvents, close);
      listeners.set(id, others.add(listener));
      return listener;
    },
    publish(id, firstSeq, events) {
      const all = listeners.get(id);
      if (!all || events.length === 0) return;
      const batch = events.map((event, index) => ({ run_id: id, seq: firstSeq + index, event }));
      for (const listener of all) listener.hear(batch);
    },
    ring,
    ringAll() {
      for (const id of listeners.keys()) ring(id);
    },
  };
}

class RunListener implements Listener {
  readonly #clock: Clock;
  readonly #maxEvents: number;
  readonly #onClose: (self: RunListener) => void;
  #batches: (readonly LoggedEvent[])[] = [];
  #kept = 0;
  #overflowed = false;
  #rung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock, maxEvents: number, onClose: (self: RunListener) => void) {
    this.#clock = clock;
    this.#maxEvents = maxEvents;
    this.#onClose = onClose;
  }

  hear(batch: readonly LoggedEvent[]): void {
    this.#kept += batch.length;
    if (this.#kept > this.#maxEvents) this.#overflowed = true;
    if (this.#overflowed) this.#batches = [];
    else this.#batches.push(batch);
    this.ring();
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  reset(): void {
    this.#batches = [];
    this.#kept = 0;
    this.#overflowed = false;
  }

  take(): readonly (readonly LoggedEvent[])[] | undefined {
    const taken = this.#overflowed ? undefined : this.#batches;
    this.reset();
    return taken;
  }

  async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#rung) await this.#sleep(ms, signal);
    this.#rung = false;
  }

  /** Sleeps until `ring`; gives the timer and the signal's listener back in every case. */
  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const timer = new AbortController();
    const onAbort = (): void => timer.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const rung = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    try {
      await Promise.race([rung, this.#clock.sleep(ms, timer.signal)]);
    } finally {
      this.#wake = undefined;
      signal?.removeEventListener("abort", onAbort);
      timer.abort();
    }
  }

  close(): void {
    this.#onClose(this);
  }
}
