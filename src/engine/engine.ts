/**
 * The contract of durable runs. Run code is an ordinary async function over a `RunContext`; what it
 * does to the world happens inside steps, which are journaled, so that a run cut by a crash goes on
 * where it stood: finished steps return what they returned, and only the one in flight runs again.
 *
 * Run code must be repeatable outside its steps: no clock, no chance, no environment there. All
 * events are emitted inside steps, or given with the outcome; so a replay writes none twice.
 */

import type { Json } from "../base/json.ts";
import type { Ending, LoggedEvent, RunEvent } from "../protocol/run-events.ts";
import type { StoredRun } from "../store/store.ts";

export interface Engine {
  /** Names a body. Called once a name, before `start` or `submit`. */
  define(name: string, body: RunBody): void;
  /**
   * Goes on with every unfinished run that has no living owner; returns their ids. May be called again
   * and again, by several processes at once: each run is taken once.
   */
  start(): Promise<string[]>;
  /** Writes the run down and starts it here. The same id again is the same run. */
  submit(name: string, input: Json, options: SubmitOptions): Promise<void>;
  /** Takes over one unfinished run. Rejects with `conflict` while its owner lives, or if it ended. */
  resume(id: string): Promise<void>;
  status(id: string): Promise<StoredRun | undefined>;
  /** Waits for the run's ending. */
  result(id: string, signal?: AbortSignal): Promise<RunOutcome>;
  /** Every event after `after` (-1 for all), in batches, live until the run has ended. */
  follow(id: string, after: number, signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]>;
  /**
   * Ends a run, and with `tree` its descendants, as `cancelled`. Resolves at once for a run of this
   * process, and when it has ended for that of another; one whose process died is taken over for it.
   */
  cancel(id: string, options: { tree: boolean }): Promise<void>;
  /** Leaves a message for `waitFor`. The same key again is the same message. */
  signal(id: string, topic: string, message: { body: Json; key: string }): Promise<void>;
  /**
   * Tells of each event that runs of this process write, once it is in the store, until the returned
   * function is called. `observe` must not throw.
   */
  watch(observe: (logged: LoggedEvent) => void): () => void;
  /** Resolves when nothing runs here any more. */
  idle(): Promise<void>;
  /** Aborts what still runs here, without an ending: it can be resumed. Closes the store. */
  stop(): Promise<void>;
}

export interface SubmitOptions {
  readonly id: string;
  readonly title: string;
  readonly parent_id?: string | undefined;
  readonly path?: string | undefined;
  /**
   * How long it may run; past it the context's signal aborts with `Failure("timeout")`. Counted anew
   * from a takeover, so that a run resumed the next day has not timed out.
   */
  readonly timeoutMs?: number | undefined;
}

export type RunBody = (context: RunContext, input: Json) => Promise<RunOutcome>;

/** How a run ended. `events` are its last ones, written in the same transaction as the ending. */
export interface RunOutcome {
  readonly ending: Ending;
  readonly result: Json;
  readonly events: readonly RunEvent[];
}

export interface RunContext {
  readonly id: string;
  readonly parent_id: string | null;
  readonly path: string;
  /** Grows at each takeover; 1 for a run that was never cut. Fences off owners of the past. */
  readonly epoch: number;
  /** Aborts on cancel, deadline and lost ownership; its reason is a `Failure` that says which. */
  readonly signal: AbortSignal;
  /** Whether another process goes on with it from here, now or later: no ending of this one counts. */
  readonly isLost: boolean;
  /** Runs `fn` once and remembers what it returned. A key may be used once in a run. */
  step<Out extends Json>(key: string, fn: (step: Step) => Promise<Out>): Promise<Out>;
  /** Single steps side by side, started in order, at most `limit` at once; results in order. */
  all<Out extends Json>(
    steps: readonly { key: string; fn: (step: Step) => Promise<Out> }[],
    limit?: number,
  ): Promise<Out[]>;
  /** Starts a run of its own under this one, with the id `<this id>/<key>`; found again on replay. */
  child(key: string, name: string, input: Json, options?: ChildOptions): Promise<Child>;
  /** Waits for a message left with `engine.signal`; null when none came in time. Journaled. */
  waitFor(topic: string, timeoutMs: number): Promise<Json>;
  /** Waits for somebody, without counting it against the time of this run and of those above it here. */
  uncounted<Out>(work: () => Promise<Out>): Promise<Out>;
  /** Appends events to the run's log; returns the last one's number. Only inside a step. */
  emit(events: readonly RunEvent[]): Promise<number>;
  /** The log so far, for a run that was taken over and must see what its past self said. */
  readLog(): Promise<LoggedEvent[]>;
}

export interface ChildOptions {
  readonly timeoutMs?: number | undefined;
  readonly title?: string | undefined;
}

export interface Step {
  /** `run id/step key`: the same for a repeated attempt, so that a tool can recognise it. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /**
   * The last events of the step, written in the same transaction as its journal entry: what the log
   * says is finished is not done again. Called at most once, with nothing emitted behind it.
   */
  end(events: readonly RunEvent[]): void;
}

export interface Child {
  readonly id: string;
  result(): Promise<RunOutcome>;
  /** Ends it and everything below it as `cancelled`. Does nothing when it has ended, or runs elsewhere. */
  cancel(): Promise<void>;
}
