/**
 * The contract of durable runs. Run code is an ordinary async function over a `RunContext`. Its effects happen inside
 * steps, which are journaled, so that a run that a crash interrupts continues where it was: finished steps return what
 * they returned, and only the step in flight runs again.
 *
 * Run code must be repeatable outside its steps: no clock, no random numbers, no environment there. All events are
 * emitted inside steps, or given with the outcome; so a replay writes none twice. Events of others that happen
 * meanwhile (`tell`) are the exception.
 */

import type { Json } from "../base/json.ts";
import type { Ending, LoggedEvent, RunEvent } from "../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../protocol/run-record.ts";
import type { NewThing, ThingName } from "../store/shelf.ts";
import type { Settlement } from "../store/spending.ts";

/** Reads the record of runs, whichever process runs them. All of it only reads. */
export interface RecordReader {
  /** The run with its input and its result, which may be megabytes; `Engine.status` is cheap. */
  getRun(id: string): Promise<RunRecord | undefined>;
  /** Newest first. */
  listRuns(query: RunQuery): Promise<RunRecord[]>;
  /**
   * Events with a number greater than `after` (-1 for all), oldest first, at most about `limit`. Returns fewer at once
   * if events are large: only an empty result means that there are no more (`read-log.ts` reads them all).
   */
  readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]>;
}

export interface Engine {
  readonly record: RecordReader;
  /**
   * Names a body, and the runs that begin when a run of it has ended. Called once for each name, before `start` or
   * `submit`.
   */
  define(name: string, body: RunBody, following?: Following): void;
  /** Names a queue in which runs of this process wait for their turns. */
  defineQueue(name: string, limits: QueueLimits): void;
  /** Takes no more runs out of queues. Runs that run here continue. */
  retire(): void;
  /**
   * Continues every unfinished run without a living owner; returns the ids of those that it began. A run whose parent
   * continues is taken over by that parent, when it reaches it. Then takes from the queues what there is room for. May
   * be called again and again, by several processes at once: each run is taken once. `roots` are the names of the
   * bodies whose trees are taken over, all when left out: a store is shared by programs with other folders and
   * settings.
   */
  start(roots?: readonly string[]): Promise<string[]>;
  /** Writes the run down and starts it here. The same id again is the same run. */
  submit(name: string, input: Json, options: SubmitOptions): Promise<void>;
  /**
   * Writes down a run that has ended already: no reader could know of it before. One transaction. Watchers receive its
   * events like any other's.
   */
  noteEnded(name: string, input: Json, options: EndedOptions, outcome: RunOutcome): Promise<void>;
  /** Takes over one unfinished run. Rejects with `conflict` while its owner lives, or if it ended. */
  resume(id: string): Promise<void>;
  /** Without its input and its result: cheap, however large these are. */
  status(id: string): Promise<RunStatus | undefined>;
  /** The run's input. Undefined if the run does not exist. */
  input(id: string): Promise<Json | undefined>;
  /** Waits for the run's ending, and reads nothing of its result: cheap, however large that is. */
  ended(id: string, signal?: AbortSignal): Promise<void>;
  /** Waits for the run's ending and reads its result. */
  result(id: string, signal?: AbortSignal): Promise<RunOutcome>;
  /** Every event after `after` (-1 for all), in batches, live until the run has ended. */
  follow(id: string, after: number, signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]>;
  /**
   * Ends a run, and with `tree` its descendants, as `cancelled`. Resolves at once for a run of this process; for a run
   * of another process when it has ended. A run whose process died is taken over first.
   */
  cancel(id: string, options: { tree: boolean }): Promise<void>;
  /**
   * True if a living process has the run. A process on another machine may have to be watched before that is known:
   * until then it counts as living, or with `surely` the call waits.
   */
  isHeld(run: HeldRun, options?: { readonly surely: boolean }): Promise<boolean>;
  /** The process that has it, in words for a person: `process 12 on host`. */
  nameHolder(run: HeldRun): Promise<string>;
  /** Removes the run and every run below it, all or none. A process that still runs one of them loses it. */
  delete(id: string): Promise<void>;
  /** How many runs of a queue wait for their turn, in all processes. */
  countWaiting(queue: string): Promise<number>;
  /** Rejects with the reason if a run of ordinary size could not be written down now. */
  checkWritable(): Promise<void>;
  /** Leaves a message for `waitFor` or `take`. The same key again is the same message. */
  signal(id: string, topic: string, message: { body: Json; key: string }): Promise<void>;
  /**
   * Calls `observe` for each event that runs of this process write, once it is in the store, and `leave` for each run
   * that this process gives up without an ending, until the returned function is called. Neither may throw.
   */
  watch(observe: (logged: LoggedEvent) => void, leave?: (id: string) => void): () => void;
  /** Resolves when no run runs here any more. */
  idle(): Promise<void>;
  /**
   * Prepares for `stop`: runs without followers continue to the end of the calls they are making, and rest there.
   * Resolves when nothing runs that `stop` would interrupt. Starts nothing from here on.
   */
  drain(): Promise<void>;
  /** Aborts what still runs here, without an ending: it can be resumed. Closes the store. */
  stop(): Promise<void>;
}

export type HeldRun = Pick<RunStatus, "id" | "owner">;

export interface SubmitOptions {
  readonly id: string;
  readonly title: string;
  readonly parent_id?: string | undefined;
  readonly path?: string | undefined;
  /**
   * The tenant of the run: its storage counts for that tenant, and large values of it are worked on in that tenant's
   * turn. A child has its parent's tenant. No tenant when left out.
   */
  readonly tenant?: string | null | undefined;
  /**
   * How long it may run; after this the context's signal aborts with `Failure("timeout")`. Starts again with each
   * takeover, so that a run that is resumed the next day has not timed out.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Only writes it down: `resume` starts it, once what it needs is there. If `resume` is never called, `start` of any
   * process finds it after a while.
   */
  readonly isHeld?: boolean | undefined;
  /** Things to store on the shelf of the same record, in one transaction with the run. */
  readonly things?: readonly NewThing[] | undefined;
  /**
   * Things of the same record that must exist when the run is written down: if one was deleted meanwhile, the call
   * rejects with `not_found`, and there is no run.
   */
  readonly needs?: readonly ThingName[] | undefined;
  /** The place in a queue that it is written down with, for a queue whose lanes are bounded. */
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
  /** The tenant's lane: turns go round the lanes, and within one to the oldest run. */
  readonly lane: string;
  /** How many of a lane may wait. */
  readonly maxWaiting: number;
  /**
   * Where it begins: `here`, where its body asks for the turn, or in the queue itself: any process with room begins
   * it, with its turn. `here` when left out.
   */
  readonly placement?: "here" | "queue" | undefined;
  /** What `submit` rejects with if the lane is full. */
  toFull(): Error;
}

export type RunBody = (context: RunContext, input: Json) => Promise<RunOutcome>;

/**
 * The runs that begin when a run has ended, however it ended and whichever process wrote the ending: they are written
 * down in the same transaction, wait in their queues and are begun by any process with room. A pure function of the
 * run.
 */
export type Following = (ended: EndedRun) => readonly FollowingRun[];

export type EndedRun = Pick<RunRecord, "id" | "parent_id" | "tenant" | "input">;

export interface FollowingRun {
  /** Its id is that of the ended run, a slash and this key; it is deleted with that run. */
  readonly key: string;
  /** The name of its body. */
  readonly name: string;
  readonly title: string;
  readonly input: Json;
  /** The queue in which it waits for its turn. */
  readonly queue: string;
  readonly lane: string;
}

/**
 * How a run ended. `events` are its last ones. They, the `things` to store on the shelf of the same record, and what
 * `settles` books there, are written in the same transaction as the ending.
 */
export interface RunOutcome {
  readonly ending: Ending;
  readonly result: Json;
  readonly events: readonly RunEvent[];
  readonly things?: readonly NewThing[] | undefined;
  /** What the run has used, for the key that pays: booked once, by the process that writes the ending. */
  readonly settles?: Settlement | undefined;
  /** Called once the ending is written by this process. Must not throw. */
  readonly onEnded?: (() => void) | undefined;
}

export interface RunContext {
  readonly id: string;
  readonly parent_id: string | null;
  readonly path: string;
  /** The tenant of the run, as in `SubmitOptions`; null for none. */
  readonly tenant: string | null;
  /** Grows at each takeover; 1 for a run that was never interrupted. Fences off earlier owners. */
  readonly epoch: number;
  /** True if an earlier owner was interrupted. False for a run that only waited for its turn. */
  readonly isTakeover: boolean;
  /** Aborts on cancel, deadline and lost ownership; its reason is a `Failure` that says which. */
  readonly signal: AbortSignal;
  /** True once another process owns this run, now or later. Nothing this process writes for it is accepted. */
  readonly isLost: boolean;
  /**
   * Aborts when this process takes no more runs out of queues. A run that only waits should then give its turn back
   * and ask for it again: this process gives it up, and any process with room continues it.
   */
  readonly retired: AbortSignal;
  /**
   * Runs `fn` once and remembers what it returned. A key may be used once in a run. The code of a step has an effect
   * on the world, or reads it: it starts no step and no child, and waits for no message. Rejects once the signal has
   * aborted, except for a step that an earlier owner has ended.
   */
  step<Out extends Json>(key: string, fn: (step: Step) => Promise<Out>): Promise<Out>;
  /**
   * Run code with an ending of its own, which is remembered like that of a step: once it has ended, a replay does not
   * enter it. It may start children and wait; otherwise it follows the rules of a step: an interrupted stage begins
   * again. Stages may be open at the same time; none is opened inside a step.
   */
  stage<Out extends Json>(key: string, fn: (stage: Step) => Promise<Out>): Promise<Out>;
  /** Runs steps and stages at the same time, started in order, at most `limit` at once; results in order. */
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
  /**
   * Starts a run of its own under this one, with the id `<this id>/<key>`; found again on replay. Not inside a step.
   */
  child(key: string, name: string, input: Json, options?: ChildOptions): Promise<Child>;
  /**
   * Waits for a message left with `engine.signal`; null when none came in time. Journaled, so that the wait is not
   * longer after a takeover; a wait without a limit (`Infinity`) begins again. Not inside a step.
   */
  waitFor(topic: string, timeoutMs: number, options?: WaitOptions): Promise<Json>;
  /**
   * The messages left under a topic that no earlier look took, oldest first; does not wait. `before` is the key of the
   * step that follows, one look for each: a replay sees what was seen before that step the first time. Called outside
   * steps. A topic is taken from or waited for, not both.
   */
  take(topic: string, before: string): Promise<readonly Json[]>;
  /**
   * Waits for the run's turn in a queue, which it then has until it ends. If it has to wait, or this process takes no
   * more runs out of queues, the process gives the run up and the call rejects: any process with room continues it
   * from its journal, and reaches this call again. Called outside steps, with no step open.
   */
  turn(queue: string, lane: string): Promise<void>;
  /**
   * Gives a turn that the run may have to others, while it waits for something other than its queue. The run stays
   * here, and asks for its turn again.
   */
  giveTurnBack(): Promise<void>;
  /**
   * Waits without counting the wait against the time of this run, or of the runs above it here unless they continue
   * meanwhile (`alone`).
   */
  uncounted<Out>(work: () => Promise<Out>, options?: { readonly alone: boolean }): Promise<Out>;
  /** Called between two calls, outside steps: if this process stops, the run stays here. */
  rest(): Promise<void>;
  /**
   * Waits for other runs, such as children, which may be resting. `step` is the key of the step that waits; left out
   * if all of the run waits.
   */
  waiting<Out>(step: string | undefined, work: () => Promise<Out>): Promise<Out>;
  /** Appends events to the run's log; returns the last one's number. Only inside a step or a stage. */
  emit(events: readonly RunEvent[]): Promise<number>;
  /**
   * Like `emit`, outside steps: for events of a takeover, and of children that work by themselves. No journal stops a
   * replay from writing them again: the caller has to.
   */
  tell(events: readonly RunEvent[]): Promise<number>;
  /** The log so far, for a run that was taken over and must see what its earlier owner wrote. */
  readLog(): Promise<LoggedEvent[]>;
  /** The same, a page at a time: a log may be as long as several answers. */
  logPages(): AsyncIterable<readonly LoggedEvent[]>;
  /** Other runs: the input, the logs and the messages of its children. */
  readonly runs: OtherRuns;
}

export interface WaitOptions {
  /** Ends the wait, which rejects with its reason. A message that came meanwhile may be taken. */
  readonly signal?: AbortSignal | undefined;
  /** Called once if no message has come yet, and it begins to wait. */
  readonly onWait?: (() => void) | undefined;
}

export type OtherRuns = Pick<
  Engine,
  "input" | "status" | "result" | "follow" | "signal" | "record"
>;

export interface ChildOptions {
  readonly timeoutMs?: number | undefined;
  readonly title?: string | undefined;
  /** Left to any process with room, in this queue. Begun here when left out. */
  readonly queue?: QueuedPlace | undefined;
}

export interface Step {
  /** `run id/step key`: the same for a repeated attempt, so that a tool can recognise it. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /**
   * Awaited right before the step has an effect that the record cannot refuse. Rejects if another process has taken
   * the run over while this one stood still.
   */
  confirm(): Promise<void>;
  /**
   * The last events of the step, written in the same transaction as its journal entry: what the log calls finished is
   * not done again. Called at most once, with nothing emitted after it. A step that may be done again, or whose result
   * is not acted on before the run ends, need not survive a loss of power by itself (`process`): the next write that
   * survives one also saves it.
   */
  end(events: readonly RunEvent[], survives?: "process" | "power"): void;
}

export interface Child {
  readonly id: string;
  result(): Promise<RunOutcome>;
  /**
   * Ends it as `cancelled`, with everything below it, wherever it runs. Does nothing when it has ended, or this run
   * continues elsewhere.
   */
  cancel(): Promise<void>;
  /** The same, and waits for its ending, also if this run was told to end. Rejects if another process has taken this run over. */
  end(): Promise<RunOutcome>;
}
