/**
 * The engine of one process over one store. Several processes may share the store: each run has one
 * owner, an owner that died is taken over, and one that only seemed dead is fenced off by its epoch.
 *
 * Owns the store from here on: `stop` closes it.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { LoggedEvent } from "../protocol/run-events.ts";
import { toUnknownRun } from "../store/refusal.ts";
import type { Store, StoredRun, Worker } from "../store/store.ts";
import { readOutcome, toEnded, toFailedOutcome, toStopped } from "./ending.ts";
import type { ChildOptions, Engine, RunBody, RunOutcome, SubmitOptions } from "./engine.ts";
import { followRun, POLL_MS } from "./follow.ts";
import { createHub, type Hub } from "./hub.ts";
import { createOwnedRun, type OwnedRun } from "./owned-run.ts";
import { createRunContext } from "./run-context.ts";
import { isTimeUp } from "./time-limit.ts";
import {
  createHeartbeat,
  createLiveness,
  type Heartbeat,
  isFresh,
  makeWorkerId,
} from "./worker.ts";

const PAGE_RUNS = 200;
/** Journal key of a run's time limit, so that it holds after a takeover too. */
const LIMIT_KEY = "@limit_ms";

export interface LocalEngineOptions {
  readonly store: Store;
  readonly clock?: Clock | undefined;
  /** Unique among living processes; made up when left out. */
  readonly workerId?: string | undefined;
  /** Whether another owner lives; looks at its process and its last beat when left out. */
  readonly isAlive?: ((worker: Worker) => boolean) | undefined;
  /**
   * Told of each event that runs of this process write, in each run's order, once it is in the store.
   * Of a run that is taken over it is told the beginning again. Must not throw.
   */
  readonly observe?: ((logged: LoggedEvent) => void) | undefined;
}

export function createLocalEngine(options: LocalEngineOptions): Engine {
  return new LocalEngine(options);
}

class LocalEngine implements Engine {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #hub: Hub;
  readonly #heartbeat: Heartbeat;
  readonly #isAlive: (worker: Worker) => boolean;
  readonly #observe: ((logged: LoggedEvent) => void) | undefined;
  readonly #bodies = new Map<string, RunBody>();
  /** Runs whose claim is on its way: a second start of one of them joins the first. */
  readonly #launching = new Map<string, Promise<boolean>>();
  readonly #owned = new Map<string, OwnedRun>();
  /** Settles for each owned run when its body is done and its ending written or given up. */
  readonly #executions = new Map<string, Promise<void>>();
  /** Runs that end with everything below them. */
  readonly #treeEnds = new Set<string>();
  /** Runs of this process whose ending could not be written, and why. */
  readonly #broken = new Map<string, Failure>();
  #stopped = false;

  constructor({
    store,
    clock = systemClock,
    workerId = makeWorkerId(),
    isAlive,
    observe,
  }: LocalEngineOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#observe = observe;
    this.#hub = createHub(clock, observe);
    this.#heartbeat = createHeartbeat(store, clock, workerId);
    this.#isAlive = isAlive ?? createLiveness(clock);
  }

  define(name: string, body: RunBody): void {
    if (this.#bodies.has(name)) throw new Failure("internal", `Body \`${name}\` is defined twice.`);
    this.#bodies.set(name, body);
  }

  async start(): Promise<string[]> {
    const ids: string[] = [];
    for (const run of await this.#listUnfinished()) {
      if (await this.#isAbandoned(run)) ids.push(run.id);
    }
    // A parent that is replayed may start its child before its turn comes here; they join.
    for (const id of ids) await this.#launch(id);
    return ids;
  }

  async submit(name: string, input: Json, options: SubmitOptions): Promise<void> {
    this.#checkRunnable(options.id, name);
    const { id, title, parent_id = null, path = "/root", timeoutMs } = options;
    const created_at_ms = this.#clock.now();
    const run = { id, parent_id, path, name, input, title, created_at_ms };
    const isNew = await this.#store.createRun(run);
    if (isNew) await this.#launch(id, timeoutMs);
  }

  async resume(id: string): Promise<void> {
    const run = await this.#store.getRun(id);
    if (!run) throw toUnknownRun(id);
    if (run.status === "ended") throw toEnded(run);
    this.#checkRunnable(id, run.name);
    if (await this.#hasOwner(run)) throw await this.#toRunning(run);
    if (await this.#launch(id)) return;
    throw toEnded((await this.#store.getRun(id)) ?? run);
  }

  async status(id: string): Promise<StoredRun | undefined> {
    return await this.#store.getRun(id);
  }

  async result(id: string, signal?: AbortSignal): Promise<RunOutcome> {
    return await this.#waitForOutcome(id, signal, async () => {});
  }

  follow(id: string, after: number, signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]> {
    const isOwned = (run: string): boolean => this.#owned.has(run);
    const check = (run: string): void => this.#check(run);
    const parts = { store: this.#store, hub: this.#hub, isOwned, check };
    return followRun(parts, id, after, signal);
  }

  async cancel(id: string, { tree }: { tree: boolean }): Promise<void> {
    if (await this.#abortHere(id, { tree })) return;
    const run = await this.#store.getRun(id);
    if (!run) throw toUnknownRun(id);
    if (run.status === "ended") throw toEnded(run);
    if (await this.#hasOwner(run)) throw await this.#toRunning(run);
    throw new Failure(
      "conflict",
      `Run ${id} is not running: its process is gone. Resume it first.`,
    );
  }

  async signal(id: string, topic: string, message: { body: Json; key: string }): Promise<void> {
    const run = await this.#store.getRun(id);
    if (!run) throw toUnknownRun(id);
    if (run.status === "ended") throw toEnded(run);
    await this.#store.putSignal(id, { topic, ...message });
    this.#hub.ring(id);
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await Promise.allSettled(this.#launching.values());
    for (const owned of this.#owned.values()) owned.lose(toStopped());
    this.#hub.ringAll();
    await Promise.all(this.#executions.values());
    await this.#heartbeat.end();
    await this.#store.close();
  }

  /** False when none of them runs here. */
  async #abortHere(id: string, { tree }: { tree: boolean }): Promise<boolean> {
    const failure = new Failure("cancelled", "The run was cancelled.");
    await this.#launching.get(id);
    const runs = [id, ...(tree ? this.#descendants(id) : [])];
    const here = runs.flatMap((run) => this.#owned.get(run) ?? []);
    for (const owned of here) {
      if (tree) this.#treeEnds.add(owned.run.id);
      owned.abort(failure);
    }
    return here.length > 0;
  }

  /** Oldest first, so that a parent comes before its children. */
  async #listUnfinished(): Promise<StoredRun[]> {
    const found: StoredRun[] = [];
    for (;;) {
      const query = { limit: PAGE_RUNS, status: "running", before: found.at(-1)?.id } as const;
      const page = await this.#store.listRuns(query);
      found.push(...page);
      if (page.length < PAGE_RUNS) return found.reverse();
    }
  }

  async #isAbandoned(run: StoredRun): Promise<boolean> {
    if (!this.#bodies.has(run.name) || (await this.#hasOwner(run))) return false;
    // Written down but never claimed: while it is young, another process may be about to.
    return run.owner !== null || !isFresh(this.#clock, run.created_at_ms);
  }

  async #hasOwner({ id, owner }: StoredRun): Promise<boolean> {
    if (this.#isHere(id)) return true;
    // This process knows what it runs: a run it owns but does not run was given up.
    if (owner === null || owner === this.#heartbeat.workerId) return false;
    const worker = await this.#store.getWorker(owner);
    return worker !== undefined && this.#isAlive(worker);
  }

  async #toRunning({ id, owner }: StoredRun): Promise<Failure> {
    const here = this.#heartbeat.workerId;
    const worker = await this.#store.getWorker(this.#isHere(id) ? here : (owner ?? here));
    const where = worker ? `process ${worker.pid}` : "another process";
    return new Failure("conflict", `Run ${id} is still running in ${where}.`);
  }

  #isHere(id: string): boolean {
    return this.#owned.has(id) || this.#launching.has(id);
  }

  #checkRunnable(id: string, name: string): void {
    if (this.#stopped) throw toStopped();
    if (this.#bodies.has(name)) return;
    throw new Failure("invalid_request", `Run ${id} needs \`${name}\`, which is not defined here.`);
  }

  /** Claims the run and starts its body. False when it has ended already. */
  #launch(id: string, limitMs?: number): Promise<boolean> {
    if (this.#stopped) return Promise.reject(toStopped());
    if (this.#owned.has(id)) return Promise.resolve(true);
    const known = this.#launching.get(id);
    if (known !== undefined) return known;
    const launch = this.#claim(id, limitMs).finally(() => {
      this.#launching.delete(id);
      this.#rest();
    });
    this.#launching.set(id, launch);
    return launch;
  }

  async #claim(id: string, limitMs: number | undefined): Promise<boolean> {
    const [store, hub] = [this.#store, this.#hub];
    // First the beat, then the claim: an owner nobody has heard of would count as dead.
    await this.#heartbeat.begin();
    const epoch = await store.claim(id, this.#heartbeat.workerId);
    if (epoch === undefined) return false;
    // Read after the claim: from here on nobody else can add to them.
    const [run, journal] = [await store.getRun(id), await store.readSteps(id)];
    if (!run) throw toUnknownRun(id);
    const owned = createOwnedRun({ store, hub, run, epoch, journal });
    if (limitMs !== undefined) {
      await store.saveStep(id, epoch, { key: LIMIT_KEY, value: limitMs });
    }
    if (this.#observe && run.next_seq > 0) {
      for (const first of await store.readEvents(id, -1, 1)) this.#observe(first);
    }
    this.#broken.delete(id);
    this.#owned.set(id, owned);
    this.#executions.set(id, this.#execute(owned, limitMs ?? journal.get(LIMIT_KEY)));
    return true;
  }

  async #execute(owned: OwnedRun, limitMs: Json | undefined): Promise<void> {
    const { id } = owned.run;
    const done = new AbortController();
    if (typeof limitMs === "number") void this.#limit(id, limitMs, done.signal);
    try {
      const outcome = await this.#runBody(owned);
      if (this.#treeEnds.delete(id) && !owned.lost) await this.#endBelow(id);
      await this.#finish(owned, outcome);
    } catch (thrown) {
      if (!owned.lost) this.#broken.set(id, toFailure(thrown));
    } finally {
      done.abort();
      owned.close();
      this.#owned.delete(id);
      this.#executions.delete(id);
      this.#rest();
      this.#hub.ring(id);
    }
  }

  async #runBody(owned: OwnedRun): Promise<RunOutcome> {
    const [store, hub, clock] = [this.#store, this.#hub, this.#clock];
    const children = {
      start: this.#startChild.bind(this),
      result: (id: string, signal: AbortSignal) =>
        this.#waitForOutcome(id, signal, () => this.#adopt(id)),
      cancel: async (id: string) => {
        await this.#abortHere(id, { tree: true });
      },
    };
    const uncounted = <Out>(work: () => Promise<Out>): Promise<Out> => this.#uncounted(owned, work);
    const context = createRunContext({ store, hub, clock, owned, children, uncounted });
    try {
      const body = this.#bodies.get(owned.run.name);
      if (!body) throw new Failure("internal", `Body \`${owned.run.name}\` is not defined.`);
      const outcome = await body(context, owned.run.input);
      await owned.log.settled();
      return outcome;
    } catch (thrown) {
      return toFailedOutcome(thrown, owned.signal, clock.now());
    }
  }

  /**
   * A run ends after everything below it. After a takeover there may be children that nobody waits for:
   * their parent was cancelled before it came to them.
   */
  async #endBelow(id: string): Promise<void> {
    const query = { limit: Number.MAX_SAFE_INTEGER, parent_id: id, status: "running" } as const;
    for (const run of await this.#store.listRuns(query)) {
      const isElsewhere = !this.#isHere(run.id) && (await this.#hasOwner(run));
      if (isElsewhere || !this.#bodies.has(run.name)) continue;
      this.#treeEnds.add(run.id);
      await this.#launch(run.id);
      this.#owned.get(run.id)?.abort(new Failure("cancelled", "The run above it has ended."));
      await this.#executions.get(run.id);
    }
  }

  async #finish(owned: OwnedRun, { ending, result, events }: RunOutcome): Promise<void> {
    const { id } = owned.run;
    // A refused append has failed the run already; the ending follows what is in the log.
    await owned.log.settled().catch(() => {});
    const firstSeq = owned.log.next;
    const end = { ending, result, events, firstSeq, at_ms: this.#clock.now() };
    await owned.write(() => this.#store.finish(id, owned.epoch, end));
    for (const [at, event] of events.entries()) {
      this.#observe?.({ run_id: id, seq: firstSeq + at, event });
    }
  }

  /** Ends the run when its time is up. Each owner gives it the whole time again. */
  async #limit(id: string, limitMs: number, done: AbortSignal): Promise<void> {
    const left = { limitMs, clock: this.#clock, uncounted: () => this.#owned.get(id)?.uncounted };
    if (!(await isTimeUp(left, done))) return;
    const message = `The run's time limit of ${limitMs / 1000} s passed.`;
    this.#owned.get(id)?.abort(new Failure("timeout", message));
    const above = new Failure("cancelled", "The time limit of the run above it passed.");
    for (const run of this.#descendants(id)) this.#owned.get(run)?.abort(above);
  }

  /** Waits for `work` without counting it against the limits of this run and of those above it. */
  async #uncounted<Out>(owned: OwnedRun, work: () => Promise<Out>): Promise<Out> {
    const ends: ((nowMs: number) => void)[] = [];
    for (let at: OwnedRun | undefined = owned; at; at = this.#owned.get(at.run.parent_id ?? "")) {
      ends.push(at.uncounted.begin(this.#clock.now()));
    }
    try {
      return await work();
    } finally {
      for (const end of ends) end(this.#clock.now());
    }
  }

  /** Every run of this process below this one. */
  #descendants(id: string): string[] {
    const below = [...this.#owned.values()].filter(({ run }) => run.parent_id === id);
    return below.flatMap(({ run }) => [run.id, ...this.#descendants(run.id)]);
  }

  async #startChild(
    parent: OwnedRun,
    key: string,
    { name, input, timeoutMs, title = key }: ChildOptions & { name: string; input: Json },
  ): Promise<string> {
    const id = `${parent.run.id}/${key}`;
    const path = `${parent.run.path}/${key}`;
    await this.submit(name, input, { id, path, title, parent_id: parent.run.id, timeoutMs });
    await this.#adopt(id);
    // The parent may have been cancelled after the child was written down and before it ran.
    if (parent.signal.aborted) this.#owned.get(id)?.abort(toFailure(parent.signal.reason));
    return id;
  }

  /** Takes over a child whose owner is gone. */
  async #adopt(id: string): Promise<void> {
    if (this.#owned.has(id)) return;
    const run = await this.#store.getRun(id);
    if (run?.status === "running" && !(await this.#hasOwner(run))) await this.#launch(id);
  }

  async #waitForOutcome(
    id: string,
    signal: AbortSignal | undefined,
    tend: () => Promise<void>,
  ): Promise<RunOutcome> {
    const listener = this.#hub.listen(id, 0);
    try {
      for (;;) {
        this.#check(id);
        const run = await this.#store.getRun(id);
        if (!run) throw toUnknownRun(id);
        if (run.status === "ended") return await readOutcome(this.#store, run);
        await tend();
        // A run of this process rings when it ends; others must be looked at.
        await listener.wait(this.#owned.has(id) ? undefined : POLL_MS, signal);
      }
    } finally {
      listener.close();
    }
  }

  /** Throws when there is nothing to wait for any more. */
  #check(id: string): void {
    const broken = this.#broken.get(id);
    if (broken) throw broken;
    if (this.#stopped) throw toStopped();
  }

  /** Stops the beat when this process has nothing that could be taken over. */
  #rest(): void {
    if (this.#owned.size === 0 && this.#launching.size === 0) this.#heartbeat.pause();
  }
}
