/**
 * The contract of durable runs. Run code is an ordinary async function over a `RunContext`; what it
 * does to the world happens inside steps, which are journaled, so that a run cut by a crash goes on
 * where it stood: finished steps return what they returned, and only the one in flight runs again.
 *
 * Run code must be repeatable outside its steps: no clock, no chance, no environment there. All
 * events are emitted inside steps, or given with the outcome; so a replay writes none twice. What others
 * do meanwhile (`tell`) is the exception.
 */

import type { Json } from "../base/json.ts";
import type { Ending, LoggedEvent, RunEvent } from "../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../protocol/run-record.ts";
import type { NewThing } from "../store/shelf.ts";
import type { Settlement } from "../store/spending.ts";

/** Looks at what is written of runs, whoever runs them. All of it only reads. */
export interface RecordReader {
  /** With what it was given and gave, which may be megabytes; `Engine.status` is cheap. */
  getRun(id: string): Promise<RunRecord | undefined>;
  /** Newest first. */
  listRuns(query: RunQuery): Promise<RunRecord[]>;
  /**
   * Events with a number greater than `after` (-1 for all), oldest first, at most about `limit`. Of large
   * events it gives fewer at once: only where it gives none are there no more (`read-log.ts` reads them all).
   */
  readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]>;
}

export interface Engine {
  readonly record: RecordReader;
  /** Names a body, and what begins when a run of it has ended. Called once for each name, before `start` or `submit`. */
  define(name: string, body: RunBody, following?: Following): void;
  /** Names a queue that runs of this process take their turns in. */
  defineQueue(name: string, limits: QueueLimits): void;
  /** Takes no more runs out of queues. What runs here goes on. */
  retire(): void;
  /**
   * Goes on with every unfinished run that has no living owner; returns the ids of those that it began. A
   * run whose parent goes on is taken over by that parent, when it comes to it. Then takes from the
   * queues what there is room for. May be called again and again, by several processes at once: each run
   * is taken once. `roots` are the names of the bodies whose trees are taken over, all when left out: a
   * store is shared by programs that have other folders and settings.
   */
  start(roots?: readonly string[]): Promise<string[]>;
  /** Writes the run down and starts it here. The same id again is the same run. */
  submit(name: string, input: Json, options: SubmitOptions): Promise<void>;
  /**
   * Writes down a run that has ended already: nobody could know of it before. One transaction. Whoever watches is told
   * of its events as of any other.
   */
  noteEnded(name: string, input: Json, options: EndedOptions, outcome: RunOutcome): Promise<void>;
  /** Takes over one unfinished run. Rejects with `conflict` while its owner lives, or if it ended. */
  resume(id: string): Promise<void>;
  /** Without its input and its result: cheap, however large these are. */
  status(id: string): Promise<RunStatus | undefined>;
  /** What the run was given. Undefined where there is no such run. */
  input(id: string): Promise<Json | undefined>;
  /** Waits for the run's ending. */
  result(id: string, signal?: AbortSignal): Promise<RunOutcome>;
  /** Every event after `after` (-1 for all), in batches, live until the run has ended. */
  follow(id: string, after: number, signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]>;
  /**
   * Ends a run, and with `tree` its descendants, as `cancelled`. Resolves at once for a run of this
   * process, and when it has ended for that of another; one whose process died is taken over for it.
   */
  cancel(id: string, options: { tree: boolean }): Promise<void>;
  /**
   * Whether a living process has the run. One on another machine may have to be watched before that is
   * known: until then it counts as living, or with `surely` it is waited for.
   */
  isHeld(run: Held, options?: { readonly surely: boolean }): Promise<boolean>;
  /** Who has it, in words for a person: `process 12 on host`. */
  nameHolder(run: Held): Promise<string>;
  /** Removes the run and every run below it, all or none. Who still runs one of them loses it. */
  delete(id: string): Promise<void>;
  /** How many runs of a queue wait for their turn, in all processes. */
  countWaiting(queue: string): Promise<number>;
  /** Rejects with the reason where a run of ordinary size could not be written down now. */
  checkWritable(): Promise<void>;
  /** Leaves a message for `waitFor` or `take`. The same key again is the same message. */
  signal(id: string, topic: string, message: { body: Json; key: string }): Promise<void>;
  /**
   * Calls `observe` for each event that runs of this process write, once it is in the store, and `leave`
   * for each run that this process gives up without an ending, until the returned function is called.
   * Neither may throw.
   */
  watch(observe: (logged: LoggedEvent) => void, leave?: (id: string) => void): () => void;
  /** Resolves when nothing runs here any more. */
  idle(): Promise<void>;
  /**
   * Prepares for `stop`: runs that nobody follows go on to the end of the calls they are making, and
   * rest there. Resolves when nothing runs that `stop` would interrupt. Starts nothing from here on.
   */
  drain(): Promise<void>;
  /** Aborts what still runs here, without an ending: it can be resumed. Closes what it keeps runs in. */
  stop(): Promise<void>;
}

export type Held = Pick<RunStatus, "id" | "owner">;

export interface SubmitOptions {
  readonly id: string;
  readonly title: string;
  readonly parent_id?: string | undefined;
  readonly path?: string | undefined;
  /** Whose it is: whose storage it counts for, and in whose turn large values of it are worked on. A child is its parent's. Nobody's when left out. */
  readonly tenant?: string | null | undefined;
  /**
   * How long it may run; past it the context's signal aborts with `Failure("timeout")`. Counted anew
   * from a takeover, so that a run resumed the next day has not timed out.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Only writes it down: `resume` starts it, once what it needs is there. Should that not come, `start`
   * of whichever process finds it after a while.
   */
  readonly isHeld?: boolean | undefined;
  /** What is put on the shelf of the same record, in one transaction with the run. */
  readonly things?: readonly NewThing[] | undefined;
  /** The place it is written down with, for a queue whose lanes are bounded. */
  readonly queue?: QueuedPlace | undefined;
}

export interface EndedOptions extends Pick<SubmitOptions, "id" | "title" | "tenant" | "things"> {
  readonly createdAtMs: number;
}

export interface QueueLimits {
  /** How many have their turn at once, in all processes that share the store. */
  readonly atOnce: number;
  /** How many of them in this process; any number when left out. */
  readonly here?: number | undefined;
}

export interface QueuedPlace {
  readonly name: string;
  /** Whose it is: turns go round the lanes, and in one to the oldest. */
  readonly lane: string;
  /** How many of a lane may wait. */
  readonly maxWaiting: number;
  /**
   * Where it begins: `here`, whose body asks for the turn, or in the queue itself: whichever process has
   * room begins it, with its turn. `here` when left out.
   */
  readonly placement?: "here" | "queue" | undefined;
  /** What `submit` rejects with where so many do. */
  toFull(): Error;
}

export type RunBody = (context: RunContext, input: Json) => Promise<RunOutcome>;

/**
 * The runs that begin when a run has ended, however it did and whoever wrote the ending: they are written down in the
 * same transaction, wait in their queues and belong to whoever has room. A pure function of the run.
 */
export type Following = (ended: EndedRun) => readonly FollowingRun[];

export type EndedRun = Pick<RunRecord, "id" | "parent_id" | "tenant" | "input">;

export interface FollowingRun {
  /** Its id is that of the ended run, a slash and this; it goes when that run is deleted. */
  readonly key: string;
  /** The name of its body. */
  readonly name: string;
  readonly title: string;
  readonly input: Json;
  /** Where it waits for its turn. */
  readonly queue: string;
  readonly lane: string;
}

/**
 * How a run ended. `events` are its last ones. They, the `things` that are put on the shelf of the same
 * record, and what `settles` books there, are written in the same transaction as the ending.
 */
export interface RunOutcome {
  readonly ending: Ending;
  readonly result: Json;
  readonly events: readonly RunEvent[];
  readonly things?: readonly NewThing[] | undefined;
  /** What the run has used, for the key that pays: booked once, by whoever writes the ending. */
  readonly settles?: Settlement | undefined;
  /** Called once the ending is written by this process. Must not throw. */
  readonly onEnded?: (() => void) | undefined;
}

export interface RunContext {
  readonly id: string;
  readonly parent_id: string | null;
  readonly path: string;
  /** As of `SubmitOptions`; null for nobody. */
  readonly tenant: string | null;
  /** Grows at each takeover; 1 for a run that was never cut. Fences off owners of the past. */
  readonly epoch: number;
  /** Whether an earlier owner was interrupted. False for a run that only waited for its turn. */
  readonly isTakeover: boolean;
  /** Aborts on cancel, deadline and lost ownership; its reason is a `Failure` that says which. */
  readonly signal: AbortSignal;
  /** Whether another process goes on with it from here, now or later: no ending of this one counts. */
  readonly isLost: boolean;
  /**
   * Aborts when this process takes no more runs out of queues. A run that only waits had better give its turn back and
   * ask for it again: it is given up then, and whoever has room goes on with it.
   */
  readonly retired: AbortSignal;
  /**
   * Runs `fn` once and remembers what it returned. A key may be used once in a run. The code of a step does
   * something to the world, or looks at it: it starts no step and no child, and waits for no message. Rejects once
   * the signal has aborted, except for a step that an earlier owner has ended.
   */
  step<Out extends Json>(key: string, fn: (step: Step) => Promise<Out>): Promise<Out>;
  /**
   * Run code with an ending of its own, which is remembered as that of a step: once it has ended, a replay
   * does not enter it. It may start children and wait, and for the rest keeps to the rules of a step: what
   * was cut begins again. Stages may be open side by side; none is opened inside a step.
   */
  stage<Out extends Json>(key: string, fn: (stage: Step) => Promise<Out>): Promise<Out>;
  /** Steps and stages side by side, started in order, at most `limit` at once; results in order. */
  all<Out extends Json>(
    steps: readonly {
      readonly key: string;
      readonly isStage?: boolean | undefined;
      readonly fn: (step: Step) => Promise<Out>;
    }[],
    limit?: number,
  ): Promise<Out[]>;
  /** What a step returned that an earlier owner of the run has ended; undefined for any other. */
  recall(key: string): Json | undefined;
  /** Starts a run of its own under this one, with the id `<this id>/<key>`; found again on replay. Not inside a step. */
  child(key: string, name: string, input: Json, options?: ChildOptions): Promise<Child>;
  /**
   * Waits for a message left with `engine.signal`; null when none came in time. Journaled, so that a takeover
   * waits no longer; a wait without a limit (`Infinity`) begins again. Not inside a step.
   */
  waitFor(topic: string, timeoutMs: number, options?: WaitOptions): Promise<Json>;
  /**
   * The messages left under a topic that no look before took, oldest first; waits for none. `before` is
   * the key of the step that follows, one look each: a replay sees what was seen before that step the
   * first time. Called outside steps. A topic is taken from or waited for, not both.
   */
  take(topic: string, before: string): Promise<readonly Json[]>;
  /**
   * Waits for the run's turn in a queue, which it then has until it ends. Where it has to wait, or this process takes
   * no more runs out of queues, the process gives the run up and the call rejects: whoever has room goes on with it from its journal, and
   * comes here again. Called outside steps, with no step open.
   */
  turn(queue: string, lane: string): Promise<void>;
  /**
   * Gives a turn that the run may have to others, while it waits for something else than its queue. The
   * run stays here, and asks for its turn again.
   */
  giveTurnBack(): Promise<void>;
  /**
   * Waits for somebody, without counting it against the time of this run, and of those above it here
   * unless they go on meanwhile (`alone`).
   */
  uncounted<Out>(work: () => Promise<Out>, options?: { readonly alone: boolean }): Promise<Out>;
  /** Called between two calls, outside of steps: where this process stops, the run stays here. */
  rest(): Promise<void>;
  /**
   * Waits for others, such as children, who may be resting. `step` is the key of the step that waits;
   * left out where all of the run does.
   */
  waiting<Out>(step: string | undefined, work: () => Promise<Out>): Promise<Out>;
  /** Appends events to the run's log; returns the last one's number. Only inside a step or a stage. */
  emit(events: readonly RunEvent[]): Promise<number>;
  /**
   * The same outside of steps: of a takeover, and of children that work by themselves. No journal holds
   * a replay back from telling them again: whoever tells them sees to that.
   */
  tell(events: readonly RunEvent[]): Promise<number>;
  /** The log so far, for a run that was taken over and must see what its past self said. */
  readLog(): Promise<LoggedEvent[]>;
  /** The same, a page at a time: a log may be as long as several answers. */
  logPages(): AsyncIterable<readonly LoggedEvent[]>;
  /** Other runs: what its children were given, have said, and are told. */
  readonly runs: OtherRuns;
}

export interface WaitOptions {
  /** Ends the wait, which rejects with its reason. A message that came meanwhile may be taken. */
  readonly signal?: AbortSignal | undefined;
  /** Called once where no message is there yet, and it begins to wait. */
  readonly onWait?: (() => void) | undefined;
}

export type OtherRuns = Pick<
  Engine,
  "input" | "status" | "result" | "follow" | "signal" | "record"
>;

export interface ChildOptions {
  readonly timeoutMs?: number | undefined;
  readonly title?: string | undefined;
  /** Left to whichever process has room, in this queue. Begun here when left out. */
  readonly queue?: QueuedPlace | undefined;
}

export interface Step {
  /** `run id/step key`: the same for a repeated attempt, so that a tool can recognise it. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /**
   * Awaited right before the step does something to the world that the record cannot refuse. Rejects where another
   * process has taken the run over while this one stood still.
   */
  confirm(): Promise<void>;
  /**
   * The last events of the step, written in the same transaction as its journal entry: what the log
   * says is finished is not done again. Called at most once, with nothing emitted after it. A step that
   * nothing is done with before the run ends, or that may be done again, need not survive a loss of
   * power by itself (`process`): it does with the next write that does.
   */
  end(events: readonly RunEvent[], survives?: "process" | "power"): void;
}

export interface Child {
  readonly id: string;
  result(): Promise<RunOutcome>;
  /** Has it ended as `cancelled`, with everything below it, wherever it runs. Does nothing when it has ended, or this run goes on elsewhere. */
  cancel(): Promise<void>;
}
