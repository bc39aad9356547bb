/**
 * The runs that one process has: from the claim that makes it their owner, through their bodies, to the written
 * ending, or to the moment it gives them up. `local-engine.ts` decides what to begin.
 */

import { WAIT_OVER } from "../base/async.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import { JOURNAL_VERSION } from "../store/journal-version.ts";
import type { Store } from "../store/store.ts";
import { isQueued } from "./abandoned.ts";
import { type BrokenRun, createBrokenRuns } from "./broken-runs.ts";
import { callBody, writeEnding } from "./call-body.ts";
import { askToCancel, type CancelWatch, createCancelWatch, findCancels } from "./cancels.ts";
import { type Carried, type Carrier, directCarrier } from "./carrier.ts";
import { toStopped, toUsedByRun } from "./ending.ts";
import type { Engine, Following, RunBody, RunContext, RunOutcome } from "./engine.ts";
import type { followRun } from "./follow.ts";
import { toStarts } from "./following.ts";
import { createHub, type Hub, type Observe } from "./hub.ts";
import { createTerm } from "./lease.ts";
import type { LaunchOptions, LocalEngineOptions } from "./local-engine-options.ts";
import { createLook, type Look, type LookParts } from "./look.ts";
import { waitForOutcome } from "./outcome.ts";
import { type ChildWork, createOwnChildren } from "./own-children.ts";
import { type OwnedRun, openOwnedRun } from "./owned-run.ts";
import { abortAll, confirmAll, findAbove, findBelow } from "./owned-tree.ts";
import { createOwners, type Owners } from "./owners.ts";
import { createResting } from "./resting.ts";
import { createRunContext } from "./run-context.ts";
import { holdToLimit, LIMIT_KEY } from "./time-limit.ts";
import { createTurns, type QueueTurns } from "./turns.ts";
import { waitUncounted } from "./uncounted-time.ts";
import {
  createHeartbeat,
  createLiveness,
  createRhythm,
  type Heartbeat,
  makeWorkerId,
} from "./worker.ts";

const LEFT_IN_QUEUE = { isQueued: false };

export class LocalRuns {
  readonly store: Store;
  /** The newest version of journals that this program knows. */
  readonly journal: number;
  readonly clock: Clock;
  readonly hub: Hub;
  readonly owners: Owners;
  readonly turns: QueueTurns;
  readonly bodies = new Map<string, RunBody>();
  /** What follows runs, by the names of their bodies. */
  readonly followings = new Map<string, Following>();
  readonly observers = new Set<Observe>();
  /** Called with each run that is given up without an ending. */
  readonly leavers = new Set<(id: string) => void>();
  readonly broken = createBrokenRuns();
  /** The parts that followers of runs and callers that wait for endings use. */
  readonly seen: Parameters<typeof followRun>[0];
  /** The engine, as bodies see it. */
  readonly #engine: Engine;
  readonly heartbeat: Heartbeat;
  readonly #cancels: CancelWatch;
  readonly carrier: Carrier;
  /** Runs whose claim is in flight: a second start of one of them joins the first. */
  readonly #launching = new Map<string, Promise<boolean>>();
  readonly #owned = new Map<string, OwnedRun>();
  readonly resting = createResting(this.#owned, (id) => this.hub.isFollowed(id));
  /** Settles for each owned run when its body is done and its ending written or given up. */
  readonly #executions = new Map<string, Promise<void>>();
  /** Runs that end with everything below them. */
  readonly #treeEnds = new Set<string>();
  /** Runs that left children to any process with room. */
  readonly #placing = new Set<string>();
  readonly #unlisten: (() => void) | undefined;
  readonly #isShared: boolean;
  #stopped = false;

  constructor(engine: Engine, { store, isAlive, observe, around, ...options }: LocalEngineOptions) {
    const { clock = systemClock, workerId = makeWorkerId(), isShared = false } = options;
    const { carrier = directCarrier, journal = JOURNAL_VERSION } = options;
    this.#isShared = isShared;
    this.#engine = engine;
    this.carrier = carrier;
    this.store = store;
    this.journal = journal;
    this.clock = clock;
    if (observe) this.observers.add(observe);
    this.hub = createHub(clock, this.observers);
    this.#unlisten = store.news?.listen((id) =>
      id === undefined ? this.hub.ringAll() : this.hub.ring(id),
    );
    const rhythm = createRhythm();
    const onGap = (): void => confirmAll(this.#owned);
    this.heartbeat = createHeartbeat(store, clock, workerId, { around, rhythm, onGap });
    this.#cancels = createCancelWatch({
      ...{ store, clock, owner: workerId },
      onCancel: ({ id, tree }) => this.#abortOwned(id, { tree }),
    });
    this.owners = createOwners({
      ...{ store, clock, workerId },
      lifeOf: createLiveness(around, isAlive, rhythm),
      isHere: (id) => this.isHere(id),
    });
    const isOwned = (id: string): boolean => this.#owned.has(id);
    this.seen = { store, hub: this.hub, isOwned, look: this.#createLook(this.broken.tell) };
    this.turns = createTurns({
      ...{ store, owner: workerId, journal, beat: () => this.heartbeat.begin() },
      launch: ({ id, epoch }) => this.launch(id, { epoch }),
    });
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  isHere(id: string): boolean {
    return this.#owned.has(id) || this.#launching.has(id);
  }

  checkRunnable(id: string, name: string): void {
    if (this.#stopped) throw toStopped();
    if (this.bodies.has(name)) return;
    throw new Failure("invalid_request", `Run ${id} needs \`${name}\`, which is not defined here.`);
  }

  /** Claims the run and starts its body. False when it has ended, or another process was faster. */
  launch(id: string, options: LaunchOptions): Promise<boolean> {
    if (this.#stopped) return Promise.reject(toStopped());
    const owned = this.#owned.get(id);
    if (owned && !owned.lost) return Promise.resolve(true);
    const known = this.#launching.get(id);
    if (known !== undefined) return known;
    // A run that was given up here comes to its end first.
    const ended = Promise.resolve(this.#executions.get(id));
    const launch = ended
      .then(() => this.#claim(id, options))
      .finally(() => {
        this.#launching.delete(id);
        this.#rest();
      });
    this.#launching.set(id, launch);
    return launch;
  }

  /** Takes over a run whose owner is gone. A run that waits in a queue is left there without `isQueued`. */
  async adopt(id: string, options: { readonly isQueued: boolean } = LEFT_IN_QUEUE): Promise<void> {
    if (this.#owned.has(id)) return;
    const run = await this.store.getRunStatus(id);
    if (run?.status !== "running" || (isQueued(run) && !options.isQueued)) return;
    if (!(await this.owners.has(run))) await this.launch(id, { from: run.epoch });
  }

  /** Ends a run with everything below it: here at once, elsewhere by a message. */
  async #cancelTree(id: string): Promise<void> {
    if (await this.abort(id, { tree: true })) return;
    const run = await this.store.getRunStatus(id);
    if (run?.status !== "running") return;
    await askToCancel(this.store, { id, tree: true });
    await this.adopt(id, { isQueued: true });
  }

  /** False when none of them runs here. */
  async abort(id: string, { tree }: { tree: boolean }): Promise<boolean> {
    await this.#launching.get(id);
    return this.#abortOwned(id, { tree });
  }

  /** A run that cannot be taken now is taken with the next start. */
  async takeTurns(): Promise<void> {
    if (!this.#stopped) await this.turns.take().catch(() => {});
    this.#rest();
  }

  async idle(): Promise<void> {
    while (this.#launching.size + this.#executions.size > 0 || this.turns.taking !== undefined) {
      const all = [...this.#launching.values(), ...this.#executions.values(), this.turns.taking];
      await Promise.allSettled(all);
    }
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.turns.close();
    await Promise.allSettled(this.#launching.values());
    for (const owned of this.#owned.values()) owned.lose(toStopped());
    this.hub.ringAll();
    await Promise.all(this.#executions.values());
    await this.carrier.close();
    // If the record refuses the farewell, the others wait for the lease. The store is closed in any case: its open
    // connection would keep the process alive.
    await this.heartbeat.end().catch(() => {});
    this.#unlisten?.();
    if (!this.#isShared) await this.store.close();
  }

  #abortOwned(id: string, { tree }: { tree: boolean }): boolean {
    const own = this.#owned.get(id);
    // A run that this process gave up is cancelled where it runs next.
    const here = [...(own && !own.lost ? [own] : []), ...(tree ? findBelow(this.#owned, id) : [])];
    if (tree) for (const { run } of here) this.#treeEnds.add(run.id);
    abortAll(here, new Failure("cancelled", "The run was cancelled."));
    return here.length > 0;
  }

  /** The name of this process as an owner. First the beat: an owner that is not in the record would count as dead. */
  async toOwner(): Promise<string> {
    await this.heartbeat.begin();
    return this.heartbeat.workerId;
  }

  async #claim(id: string, options: LaunchOptions): Promise<boolean> {
    const { store, hub } = this;
    const { limitMs, fresh, epoch: own = fresh?.epoch } = options;
    const [owner, term] = [await this.toOwner(), createTerm(this.heartbeat)];
    const epoch = own ?? (await store.claim(id, owner, options.from, this.journal));
    if (epoch === undefined) return false;
    const owned = await openOwnedRun({ store, hub, id, fresh, epoch, term });
    if (this.observers.size > 0 && owned.run.next_seq > 0) {
      const [first] = await store.readEvents(id, -1, 1);
      for (const observe of this.observers) if (first) observe(first);
    }
    // Left before this claim; later messages are found by the watch. A run that was just written down has none.
    const cancels = fresh ? [] : await findCancels(store, owner);
    // From here on nothing fails: a run that counts as owned here has to be executed here.
    const broken = this.broken.take(id);
    this.#owned.set(id, owned);
    this.#cancels.begin();
    for (const cancel of cancels) if (cancel.id === id) this.#abortOwned(id, cancel);
    const limit = limitMs ?? owned.journal.get(LIMIT_KEY);
    const work = (): Promise<Carried> => this.#execute(owned, limit, broken);
    this.#executions.set(id, this.#carry(owned, fresh !== undefined, work));
    return true;
  }

  /** Never rejects: a run that could not be begun is tried again with a later start, like a broken run. */
  async #carry(owned: OwnedRun, isNew: boolean, work: () => Promise<Carried>): Promise<void> {
    const { id } = owned.run;
    try {
      await this.carrier.carry({ id, isNew }, work);
    } catch (thrown) {
      this.#giveUp(owned, thrown);
      this.#close(owned);
    }
  }

  async #execute(owned: OwnedRun, limitMs: Json | undefined, broken?: BrokenRun): Promise<Carried> {
    const { id } = owned.run;
    if (broken) this.#treeEnds.add(id);
    const done = new AbortController();
    if (typeof limitMs === "number") {
      void holdToLimit(id, { limitMs, clock: this.clock, runs: this.#owned }, done.signal);
    }
    let outcome: RunOutcome | undefined;
    try {
      outcome = await this.#runBody(owned, broken);
      const isLast = this.#treeEnds.has(id) || this.#placing.has(id);
      if (isLast && !owned.lost) await this.#endBelow(id);
      const { store, hub, clock, journal } = this;
      const starts = toStarts(owned.run, this.followings, { clock, journal });
      await writeEnding({ store, hub, clock, owned, starts }, outcome);
      this.broken.forget(id);
      if (starts) void this.takeTurns();
      return "ended";
    } catch (thrown) {
      this.#giveUp(owned, thrown, outcome);
      return "left";
    } finally {
      done.abort(WAIT_OVER);
      this.#close(owned);
    }
  }

  /** Leaves a run without an ending, to the next owner. */
  #giveUp({ run, lost, epoch }: OwnedRun, thrown: unknown, outcome?: RunOutcome): void {
    const used = outcome && toUsedByRun(outcome);
    if (!lost) this.broken.add(run.id, { failure: toFailure(thrown), used, epoch });
    for (const leave of this.leavers) leave(run.id);
  }

  /** Forgets a run that this process does not run any more. */
  #close(owned: OwnedRun): void {
    const { id } = owned.run;
    owned.close();
    this.#treeEnds.delete(id);
    this.#placing.delete(id);
    this.#owned.delete(id);
    this.#executions.delete(id);
    this.#rest();
    this.resting.changed();
    this.hub.ring(id);
    if (this.turns.leave(id)) void this.takeTurns();
  }

  async #runBody(owned: OwnedRun, broken: BrokenRun | undefined): Promise<RunOutcome> {
    const { store, hub, clock, resting } = this;
    const children = createOwnChildren({
      seen: { ...this.seen, look: this.#createLook(this.broken.reasonOf) },
      owned,
      start: this.#startChild.bind(this),
      adopt: (id) => this.adopt(id),
      cancelTree: (id) => this.#cancelTree(id),
    });
    const uncounted: RunContext["uncounted"] = (work, { alone } = { alone: false }) =>
      waitUncounted(alone ? [owned] : findAbove(this.#owned, owned), clock, work);
    const turns = {
      enter: (queue: string, lane: string) => this.turns.enter(owned, queue, lane),
      giveBack: () => this.turns.giveBack(owned).then(() => void this.takeTurns()),
      closed: this.turns.closed,
    };
    const parts = { store, hub, clock, owned, children, uncounted, resting, turns };
    const context = createRunContext({ runs: this.#engine, ...parts });
    return await callBody(this.bodies.get(owned.run.name), { context, owned, clock, broken });
  }

  /**
   * A run ends after everything below it. After a takeover there may be children without a waiting parent: it was
   * cancelled before it reached them. Children that other processes run, or take out of a queue at this moment, are
   * asked to end, all of them before any is waited for.
   */
  async #endBelow(id: string): Promise<void> {
    const query = { limit: Number.MAX_SAFE_INTEGER, parent_id: id, status: "running" } as const;
    const elsewhere: string[] = [];
    for (const run of await this.store.listRuns(query)) {
      const isElsewhere = !this.isHere(run.id) && (await this.owners.has(run));
      const isEnded = !isElsewhere && this.bodies.has(run.name) && (await this.#endHere(run));
      if (isEnded) continue;
      await askToCancel(this.store, { id: run.id, tree: true });
      if (isElsewhere || this.bodies.has(run.name)) elsewhere.push(run.id);
    }
    for (const child of elsewhere) {
      const tend = (): Promise<void> => this.adopt(child, { isQueued: true });
      await waitForOutcome(this.seen, child, undefined, tend);
    }
  }

  /** False if another process was faster. */
  async #endHere({ id, epoch }: Pick<RunStatus, "id" | "epoch">): Promise<boolean> {
    this.#treeEnds.add(id);
    if (!(await this.launch(id, { from: epoch }))) {
      this.#treeEnds.delete(id);
      return false;
    }
    this.#owned.get(id)?.abort(new Failure("cancelled", "The run above it has ended."));
    await this.#executions.get(id);
    return true;
  }

  async #startChild(
    parent: OwnedRun,
    key: string,
    { name, input, timeoutMs, title = key, queue }: ChildWork,
  ): Promise<string> {
    const [id, path] = [`${parent.run.id}/${key}`, `${parent.run.path}/${key}`];
    const { id: parent_id, tenant } = parent.run;
    const place = { id, path, title, parent_id, tenant, timeoutMs, queue };
    if (queue) this.#placing.add(parent.run.id);
    await this.#engine.submit(name, input, place);
    await this.adopt(id);
    // The parent may have been cancelled after the child was written down and before it ran.
    if (parent.signal.aborted) this.#owned.get(id)?.abort(toFailure(parent.signal.reason));
    return id;
  }

  #createLook(whyBroken: LookParts["whyBroken"]): Look {
    const { store, broken } = this;
    return createLook({ store, broken, whyBroken, isStopped: () => this.#stopped });
  }

  /** Stops the beat when this process has nothing that could be taken over. */
  #rest(): void {
    if (this.#owned.size > 0 || this.#launching.size > 0) return;
    this.heartbeat.pause();
    this.#cancels.pause();
  }
}
