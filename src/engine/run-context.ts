/**
 * What run code sees of the engine: journaled steps, children, waits and the log. One context for each execution of a
 * body; a takeover makes a new one over the same journal.
 */

import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { LoggedEvent, RunEvent } from "../protocol/run-events.ts";
import type { FinishedStep } from "../store/journal.ts";
import type { Mailbox } from "../store/mailbox.ts";
import type { Store } from "../store/store.ts";
import { TURN_KEY } from "../store/turns.ts";
import type { Child, ChildOptions, OtherRuns, RunContext, Step } from "./engine.ts";
import type { Hub } from "./hub.ts";
import type { OwnChildren } from "./own-children.ts";
import type { OwnedRun } from "./owned-run.ts";
import { readLog } from "./read-log.ts";
import type { Resting } from "./resting.ts";
import { enterCode, noteRunCode } from "./run-code.ts";
import type { Append } from "./run-log.ts";
import { createWaits, type WaitFor } from "./wait.ts";

interface ContextParts {
  readonly store: Store;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly owned: OwnedRun;
  readonly children: OwnChildren;
  readonly uncounted: RunContext["uncounted"];
  readonly resting: Resting;
  readonly turns: OwnTurn;
  readonly runs: OtherRuns;
}

/** The run's turn in a queue. */
interface OwnTurn {
  /** Aborts when this process gives no more runs their turns. */
  readonly closed: AbortSignal;
  enter(queue: string, lane: string): Promise<void>;
  giveBack(): Promise<void>;
}

export function createRunContext(parts: ContextParts): RunContext {
  return new Context(parts);
}

interface SingleStep<Out extends Json> {
  readonly key: string;
  readonly isStage?: boolean | undefined;
  readonly fn: (step: Step) => Promise<Out>;
}

class Context implements RunContext {
  readonly id: string;
  readonly parent_id: string | null;
  readonly path: string;
  readonly tenant: string | null;
  readonly epoch: number;
  readonly signal: AbortSignal;
  readonly waitFor: WaitFor;
  readonly take: Take;
  readonly uncounted: RunContext["uncounted"];
  readonly isTakeover: boolean;
  readonly runs: OtherRuns;
  readonly #parts: ContextParts;
  readonly #used = new Set<string>();
  #running = 0;

  constructor(parts: ContextParts) {
    const { run, epoch, signal, journal } = parts.owned;
    this.id = run.id;
    this.parent_id = run.parent_id;
    this.path = run.path;
    this.tenant = run.tenant;
    this.epoch = epoch;
    this.signal = signal;
    const waitFor = createWaits(parts);
    const take = createTakes(parts);
    this.waitFor = async (topic, ...rest) => {
      this.#note(`waits for \`${topic}\``);
      return await waitFor(topic, ...rest);
    };
    this.take = async (topic, before) => {
      this.#note(`takes \`${topic}\``);
      return await take(topic, before);
    };
    this.uncounted = parts.uncounted;
    this.runs = parts.runs;
    this.isTakeover = epoch > 1 && journal.get(TURN_KEY) !== epoch;
    this.#parts = parts;
  }

  get retired(): AbortSignal {
    return this.#parts.turns.closed;
  }

  get isLost(): boolean {
    return this.#parts.owned.lost !== undefined;
  }

  async step<Out extends Json>(key: string, fn: (step: Step) => Promise<Out>): Promise<Out> {
    this.#use("step", key);
    return await this.#run({ key, fn });
  }

  async stage<Out extends Json>(key: string, fn: (stage: Step) => Promise<Out>): Promise<Out> {
    this.#use("step", key);
    return await this.#run({ key, fn, isStage: true });
  }

  async all<Out extends Json>(
    steps: readonly SingleStep<Out>[],
    limit = steps.length,
  ): Promise<Out[]> {
    for (const { key } of steps) this.#use("step", key);
    const results: Out[] = new Array(steps.length);
    const errors: unknown[] = [];
    const waiting = steps.entries();
    // One iterator for all lanes: each takes the next step that was not started.
    const lane = async (): Promise<void> => {
      for (const [index, step] of waiting) {
        try {
          results[index] = await this.#run(step);
        } catch (thrown) {
          errors.push(thrown);
        }
        if (errors.length > 0) return;
      }
    };
    const lanes = Math.min(Math.max(limit, 1), steps.length);
    await Promise.all(Array.from({ length: lanes }, lane));
    if (errors.length > 0) throw errors[0];
    return results;
  }

  recall(key: string): Json | undefined {
    return this.#parts.owned.journal.get(key);
  }

  async child(key: string, name: string, input: Json, options: ChildOptions = {}): Promise<Child> {
    this.#use("child", key);
    this.signal.throwIfAborted();
    const { children, owned } = this.#parts;
    const id = await children.start(owned, key, { ...options, name, input });
    return {
      id,
      result: () => children.result(id, this.signal),
      end: () => children.end(id),
      cancel: () => children.cancel(id),
    };
  }

  async turn(queue: string, lane: string): Promise<void> {
    this.#note(`waits for its turn in \`${queue}\``);
    this.signal.throwIfAborted();
    await this.#parts.turns.enter(queue, lane);
  }

  async giveTurnBack(): Promise<void> {
    this.signal.throwIfAborted();
    await this.#parts.turns.giveBack();
  }

  async rest(): Promise<void> {
    await this.#parts.resting.rest(this.#parts.owned);
  }

  async waiting<Out>(step: string | undefined, work: () => Promise<Out>): Promise<Out> {
    return await this.#parts.resting.wait(this.#parts.owned, step, work);
  }

  // Not async: callers may ignore the log's own promise, but would have to catch one wrapped around it.
  emit(events: readonly RunEvent[]): Promise<number> {
    if (this.#running > 0) return this.#parts.owned.log.emit(events);
    const message = `Run ${this.id} emits outside a step; a replay would write the events twice.`;
    return Promise.reject(new Failure("internal", message));
  }

  tell(events: readonly RunEvent[]): Promise<number> {
    return this.#parts.owned.log.emit(events);
  }

  async readLog(): Promise<LoggedEvent[]> {
    const log: LoggedEvent[] = [];
    for await (const page of this.logPages()) for (const logged of page) log.push(logged);
    return log;
  }

  async *logPages(): AsyncGenerator<readonly LoggedEvent[]> {
    const { store, owned } = this.#parts;
    await owned.log.settled();
    const recent = owned.log.recent(this.id);
    if (recent) yield recent;
    else yield* readLog(store, this.id);
  }

  async #run<Out extends Json>({ key, isStage, fn }: SingleStep<Out>): Promise<Out> {
    const { signal } = this;
    const { owned, resting } = this.#parts;
    const { confirm } = owned;
    // Also for a run that was cancelled before it was taken over: what it had done counts, and is paid for.
    const known = owned.journal.get(key);
    if (known !== undefined) return known as Out;
    this.signal.throwIfAborted();
    await owned.confirm();
    let last: readonly RunEvent[] = [];
    let survives: FinishedStep["survives"];
    const end: Step["end"] = (events, needs) => {
      last = events;
      survives = needs;
    };
    const idempotencyKey = `${this.id}/${key}`;
    this.#running++;
    resting.begin(owned, idempotencyKey);
    try {
      const code = { run: this.id, key, kind: isStage ? ("stage" as const) : ("step" as const) };
      const value = await enterCode(code, () => fn({ idempotencyKey, signal, confirm, end }));
      await this.#save({ key, value, survives }, last);
      return value;
    } finally {
      this.#running--;
      resting.end(owned, idempotencyKey);
    }
  }

  /** The step's events come before its journal entry or with it: once it is there, nothing writes them again. */
  async #save(step: FinishedStep, last: readonly RunEvent[]): Promise<void> {
    const { store, owned } = this.#parts;
    const save = (entry: FinishedStep): Promise<void> =>
      owned.write(() => store.saveStep(this.id, this.epoch, entry));
    if (last.length > 0) {
      const append: Append = (firstSeq, events) => save({ last: { firstSeq, events }, ...step });
      const saved = owned.log.emit(last, append, step.survives);
      // A step that may be done again is written with what follows it; if that fails, all of it fails.
      if (step.survives !== "process") await saved;
      return;
    }
    await owned.log.settled();
    await save(step);
  }

  #note(does: string): void {
    noteRunCode({ run: this.id, does });
  }

  #use(kind: "step" | "child", key: string): void {
    this.#note(`starts the ${kind} \`${key}\``);
    if (kind === "step" && key.startsWith("@")) {
      throw new Failure(
        "internal",
        `Step key \`${key}\` starts with \`@\`, which is the engine's.`,
      );
    }
    const name = `${kind} ${key}`;
    if (this.#used.has(name)) {
      throw new Failure("internal", `Run ${this.id} uses the ${kind} key \`${key}\` twice.`);
    }
    this.#used.add(name);
  }
}

/**
 * Messages that run code looks for between two steps, without waiting. A look that finds nothing writes nothing; the
 * store journals what a look found as it is taken.
 */
interface TakeParts {
  readonly store: Mailbox;
  readonly owned: OwnedRun;
}

type Take = (topic: string, before: string) => Promise<readonly Json[]>;

/** The looks of one execution. They are identified by the steps that follow them. */
function createTakes({ store, owned }: TakeParts): Take {
  const used = new Set<string>();
  const { run, epoch, journal, signal } = owned;
  return async (topic, before) => {
    const key = `@take:${topic}:${before}`;
    if (used.has(key)) {
      const message = `Run ${run.id} takes \`${topic}\` twice before \`${before}\`.`;
      throw new Failure("internal", message);
    }
    used.add(key);
    const known = journal.get(key);
    if (Array.isArray(known)) return known;
    // The step was made without it: messages that came since are for a later one.
    if (journal.has(before)) return [];
    signal.throwIfAborted();
    return await owned.write(() => store.takeSignals(run.id, epoch, { topic, key }));
  };
}
