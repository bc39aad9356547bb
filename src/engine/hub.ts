/**
 * News of runs inside this process: new events for followers, and wake-ups for waiting callers. It
 * only makes things faster: every listener must be able to find the same in the store.
 */

import { WAIT_OVER } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import type { LoggedEvent, RunEvent } from "../protocol/run-events.ts";

export interface Hub {
  /**
   * Listens to one run until `close`. Keeps at most `maxEvents` that were not taken yet; with 0 it
   * gets no events at all, only wake-ups.
   */
  listen(id: string, maxEvents: number): RunEventsListener;
  /** Publishes events that are in the store already. Costs nothing without listeners. */
  publish(id: string, firstSeq: number, events: readonly RunEvent[]): void;
  /** Wakes every caller that waits for this run: it ended, was lost, or has a message. */
  ring(id: string): void;
  ringAll(): void;
  /** True if a listener gets the run's events. */
  isFollowed(id: string): boolean;
}

export interface RunEventsListener {
  /** What was published since the last call; undefined when it was more than it keeps. */
  take(): readonly (readonly LoggedEvent[])[] | undefined;
  /**
   * Resolves with the next news, or `ms` later when given. Returns at once when there was news
   * since the last wait. Without `ms` it needs no timer, which matters because each delta is waited
   * for.
   */
  wait(ms: number | undefined, signal: AbortSignal | undefined): Promise<void>;
  close(): void;
}

/** Called with events of any run. Must not throw. */
export type Observe = (logged: LoggedEvent) => void;

/** `observers` get everything that is published. */
export function createHub(clock: Clock, observers: ReadonlySet<Observe> = new Set()): Hub {
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
      for (const observe of observers) {
        for (const [at, event] of events.entries()) {
          observe({ run_id: id, seq: firstSeq + at, event });
        }
      }
      let batch: LoggedEvent[] | undefined;
      for (const listener of listeners.get(id) ?? []) {
        if (!listener.hearsEvents) continue;
        batch ??= events.map((event, index) => ({ run_id: id, seq: firstSeq + index, event }));
        listener.hear(batch);
      }
    },
    ring,
    ringAll() {
      for (const id of listeners.keys()) ring(id);
    },
    isFollowed: (id) => [...(listeners.get(id) ?? [])].some(({ hearsEvents }) => hearsEvents),
  };
}

class RunListener implements RunEventsListener {
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

  get hearsEvents(): boolean {
    return this.#maxEvents > 0;
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

  take(): readonly (readonly LoggedEvent[])[] | undefined {
    const taken = this.#overflowed ? undefined : this.#batches;
    this.#batches = [];
    this.#kept = 0;
    this.#overflowed = false;
    return taken;
  }

  async wait(ms: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#rung) await this.#sleep(ms, signal);
    this.#rung = false;
  }

  /** Always removes the timer and the signal's listener. */
  async #sleep(ms: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    const timer = ms === undefined ? undefined : new AbortController();
    let onAbort = (): void => {};
    const rung = new Promise<void>((resolve, reject) => {
      this.#wake = resolve;
      onAbort = () => reject(signal?.reason);
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      if (ms === undefined || !timer) await rung;
      else await Promise.race([rung, this.#clock.sleep(ms, timer.signal)]);
    } finally {
      this.#wake = undefined;
      signal?.removeEventListener("abort", onAbort);
      timer?.abort(WAIT_OVER);
    }
  }

  close(): void {
    this.#onClose(this);
  }
}
