/**
 * The engine of one process over one store. Several processes may share the store: each run has one
 * owner, the runs of a dead owner are taken over, and an owner that only seemed dead is fenced off
 * by its epoch.
 *
 * Owns the store from here on: `stop` closes it.
 */

import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { LoggedEvent } from "../protocol/run-events.ts";
import type { RunStatus } from "../protocol/run-record.ts";
import { toStored } from "../store/new-run.ts";
import { toUnknownRun } from "../store/refusal.ts";
import { findAbandoned, findTrees } from "./abandoned.ts";
import { askToCancel } from "./cancels.ts";
import { toAbandoned, toEnded, toNewerJournal } from "./ending.ts";
import type {
  EndedOptions,
  Engine,
  Following,
  HeldRun,
  QueueLimits,
  RecordReader,
  RunBody,
  RunOutcome,
  SubmitOptions,
} from "./engine.ts";
import { followRun } from "./follow.ts";
import { toStarts } from "./following.ts";
import type { Observe } from "./hub.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";
import { LocalRuns } from "./local-runs.ts";
import { waitForEnd, waitForOutcome } from "./outcome.ts";
import { toLimitSteps } from "./time-limit.ts";
import { isYoung } from "./worker.ts";

export function createLocalEngine(options: LocalEngineOptions): Engine {
  return new LocalEngine(options);
}

class LocalEngine implements Engine {
  readonly record: RecordReader;
  readonly #here: LocalRuns;

  constructor(options: LocalEngineOptions) {
    this.record = options.store;
    this.#here = new LocalRuns(this, options);
  }

  define(name: string, body: RunBody, following?: Following): void {
    const { bodies, followings } = this.#here;
    if (bodies.has(name)) throw new Failure("internal", `Body \`${name}\` is defined twice.`);
    bodies.set(name, body);
    if (following) followings.set(name, following);
  }

  defineQueue(name: string, limits: QueueLimits): void {
    this.#here.turns.define(name, limits);
  }

  retire(): void {
    this.#here.turns.close();
  }

  async start(roots?: readonly string[]): Promise<string[]> {
    const { store, bodies, owners, clock, broken } = this.#here;
    await broken.tidy(store);
    const unfinished = await store.listUnfinished();
    this.#here.heartbeat.noteAnswer();
    const statusOf = (id: string): Promise<RunStatus | undefined> => store.getRunStatus(id);
    const trees = roots ? await findTrees(unfinished, { roots, statusOf }) : unfinished;
    const abandoned = await findAbandoned(trees, {
      isHere: (id) => this.#here.isHere(id),
      hasBody: (name) => bodies.has(name),
      knowsJournal: (version) => version <= this.#here.journal,
      isOther: (owner) => owners.isOther(owner),
      isYoung: (createdAtMs) => isYoung(clock, createdAtMs),
    });
    const taken: string[] = [];
    const failures: unknown[] = [];
    for (const { id, epoch } of abandoned) {
      const isStuck = await broken.isStuck(id, store);
      if (isStuck || this.#here.isStopped || this.#here.resting.isDraining) continue;
      try {
        if (await this.#here.launch(id, { from: epoch })) taken.push(id);
      } catch (thrown) {
        // One whose values cannot be read must not keep the others waiting.
        failures.push(thrown);
      }
    }
    await this.#here.takeTurns();
    await this.#here.carrier.tidy();
    if (failures.length > 0) throw failures[0];
    return taken;
  }

  async submit(name: string, input: Json, options: SubmitOptions): Promise<void> {
    const { turns, clock } = this.#here;
    this.#here.checkRunnable(options.id, name);
    const { id, title, parent_id = null, path = "/root", timeoutMs, tenant } = options;
    const created_at_ms = clock.now();
    const { things, needs, queue, isHeld } = options;
    const { journal } = this.#here;
    const about = {
      id,
      parent_id,
      path,
      name,
      input,
      title,
      created_at_ms,
      tenant,
      things,
      needs,
      journal,
      // Its limit, and its place in a queue, are there from the beginning: this process may die after any write.
      steps: toLimitSteps(timeoutMs),
    };
    if (queue?.placement === "queue") {
      const place = { queue: queue.name, lane: queue.lane };
      const left = { ...about, owner: null, place };
      if (await turns.create(left, queue)) void this.#here.takeTurns();
      return;
    }
    const owner = queue || isHeld ? null : await this.#here.toOwner();
    const run = { owner, ...about };
    if (!(await turns.create(run, queue)) || isHeld) return;
    const fresh = owner === null ? undefined : toStored(run);
    await this.#here.launch(id, { fresh, from: 0, limitMs: timeoutMs });
  }

  async noteEnded(
    name: string,
    input: Json,
    { id, title, tenant, things, createdAtMs }: EndedOptions,
    { ending, result, events, settles, onEnded, ...outcome }: RunOutcome,
  ): Promise<void> {
    const { store, hub, clock, journal, followings } = this.#here;
    this.#here.checkRunnable(id, name);
    const place = { parent_id: null, path: "/root", created_at_ms: createdAtMs, journal };
    const run = { id, name, input, title, tenant, things, ...place };
    const starts = toStarts({ ...run, tenant: tenant ?? null }, followings, { clock, journal });
    const at_ms = clock.now();
    const ended = { ending, result, events, at_ms, settles, starts, things: outcome.things };
    if (!(await store.recordRun(run, ended))) throw toKnown(id);
    onEnded?.();
    hub.publish(id, 0, events);
    if (starts) void this.#here.takeTurns();
  }

  async resume(id: string): Promise<void> {
    const { store, owners, broken } = this.#here;
    const run = await store.getRunStatus(id);
    if (!run) throw toUnknownRun(id);
    if (run.status === "ended") {
      broken.noteEnded(run);
      throw toEnded(run);
    }
    this.#here.checkRunnable(id, run.name);
    if (run.journal > this.#here.journal) throw toNewerJournal(run, this.#here.journal);
    if (await owners.hasSurely(run)) throw await owners.toRunning(run);
    broken.forget(id);
    if (await this.#here.launch(id, { from: run.epoch })) return;
    const now = (await store.getRunStatus(id)) ?? run;
    throw now.status === "ended" ? toEnded(now) : await owners.toRunning(now);
  }

  async status(id: string): Promise<RunStatus | undefined> {
    return await this.#here.store.getRunStatus(id);
  }

  async input(id: string): Promise<Json | undefined> {
    return (await this.record.getRun(id))?.input;
  }

  async ended(id: string, signal?: AbortSignal): Promise<void> {
    await waitForEnd(this.#here.seen, id, signal, async () => {});
  }

  async result(id: string, signal?: AbortSignal): Promise<RunOutcome> {
    return await waitForOutcome(this.#here.seen, id, signal, async () => {});
  }

  follow(id: string, after: number, signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]> {
    return followRun(this.#here.seen, id, after, signal);
  }

  async cancel(id: string, { tree }: { tree: boolean }): Promise<void> {
    if (await this.#here.abort(id, { tree })) return;
    const { store, bodies, owners, seen } = this.#here;
    const run = await store.getRunStatus(id);
    if (!run) throw toUnknownRun(id);
    if (run.status === "ended") throw toEnded(run);
    const canTakeOver = bodies.has(run.name) && run.journal <= this.#here.journal;
    if (!canTakeOver && !(await owners.has(run))) throw toAbandoned(id);
    await askToCancel(store, { id, tree });
    await waitForEnd(seen, id, undefined, async () => {
      if (canTakeOver) await this.#here.adopt(id, { isQueued: true });
      else if (!(await owners.has(run))) throw toAbandoned(id);
    });
  }

  async isHeld(run: HeldRun, { surely } = { surely: false }): Promise<boolean> {
    const { owners } = this.#here;
    return surely ? await owners.hasSurely(run) : await owners.has(run);
  }

  async nameHolder(run: HeldRun): Promise<string> {
    return await this.#here.owners.name(run);
  }

  async delete(id: string): Promise<void> {
    await this.#here.store.deleteTree(id);
  }

  async countWaiting(queue: string): Promise<number> {
    return await this.#here.store.countWaiting(queue);
  }

  async checkWritable(): Promise<void> {
    await this.#here.store.checkWritable();
  }

  async signal(id: string, topic: string, message: { body: Json; key: string }): Promise<void> {
    const { store, hub } = this.#here;
    const run = await store.getRunStatus(id);
    if (!run) throw toUnknownRun(id);
    if (run.status === "ended") throw toEnded(run);
    await store.putSignal(id, { topic, ...message });
    hub.ring(id);
  }

  watch(observe: Observe, leave: (id: string) => void = () => {}): () => void {
    const { observers, leavers } = this.#here;
    observers.add(observe);
    leavers.add(leave);
    return () => void (observers.delete(observe) && leavers.delete(leave));
  }

  async idle(): Promise<void> {
    await this.#here.idle();
  }

  drain(): Promise<void> {
    this.#here.turns.close();
    return this.#here.resting.drain();
  }

  async stop(): Promise<void> {
    await this.#here.stop();
  }
}

function toKnown(id: string): Failure {
  return new Failure("internal", `Run ${id} is in the record already.`);
}
