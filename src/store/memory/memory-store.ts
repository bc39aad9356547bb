/**
 * The store in maps: for tests, and for runs that must not write to disk. Values are kept by reference, not copied:
 * their type is readonly, and a copy of each delta would be the whole cost of an append.
 */

import type { Json } from "../../base/json.ts";
import { countJsonChars } from "../../base/json-size.ts";
import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../../protocol/run-record.ts";
import type { FinishedStep, NewRun, RunFinish } from "../journal.ts";
import { JOURNAL_VERSION } from "../journal-version.ts";
import type { FoundSignal } from "../mailbox.ts";
import { toStored } from "../new-run.ts";
import type { Worker } from "../ownership.ts";
import type { LaneState } from "../record-state.ts";
import {
  checkWaiting,
  toRefusal,
  toRepeatedStep,
  toUnknownRun,
  toUnknownThing,
} from "../refusal.ts";
import type { RunIndex } from "../run-index.ts";
import type { UnfinishedRun } from "../run-reader.ts";
import type { Spending } from "../spending.ts";
import { toSettling } from "../spending-rows.ts";
import type { Store, ThingsOfRuns } from "../store.ts";
import { takenKey } from "../taken-key.ts";
import { type NewPlace, type Queue, type QueuePlace, type TakenTurn, TURN_KEY } from "../turns.ts";
import { MemoryIndex } from "./memory-index.ts";
import { MemoryTurns } from "./memory-turns.ts";

export function createMemoryStore(): Store {
  return new MemoryStore();
}

/** The processes that work on its runs, and the runs that wait for a turn. */
export interface MemoryOwners {
  workers(): readonly (Worker & { readonly runs: number })[];
  lanes(): readonly LaneState[];
}

/**
 * The store with queries over all its runs. The index begins when it is first asked for: it keeps the usage of removed
 * runs, and would only grow in a process that never asks.
 */
export function createMemoryRecord(): {
  readonly store: Store;
  readonly owners: MemoryOwners;
  openIndex(): RunIndex;
} {
  const store = new MemoryStore();
  return { store, owners: store, openIndex: () => store.openIndex() };
}

/** The owner of a run that is written down after it has ended. */
const RECORDED = "recorded";

interface Entry {
  /** Changed in place by its owner's writes; copied when it is read. */
  readonly run: { -readonly [Field in keyof RunRecord]: RunRecord[Field] };
  readonly steps: Map<string, Json>;
  readonly events: RunEvent[];
  readonly signals: Signal[];
}

interface Signal {
  readonly topic: string;
  readonly key: string;
  readonly body: Json;
  taken: boolean;
}

class MemoryStore implements Store, MemoryOwners {
  /** In the order of creation, which decides between runs of one millisecond. */
  readonly #entries = new Map<string, Entry>();
  readonly #workers = new Map<string, Worker>();
  readonly #turns = new MemoryTurns();
  #index: MemoryIndex | undefined;
  /** Ids of runs by that of their parent, so that removing a tree does not scan all runs. */
  readonly #children = new Map<string, Set<string>>();
  #shelf: ThingsOfRuns = { put() {}, has: () => true };
  #spending: Pick<Spending, "settle"> | undefined;

  async createRun(run: NewRun): Promise<boolean> {
    if (this.#entries.has(run.id)) return false;
    for (const name of run.needs ?? []) if (!this.#shelf.has(name)) throw toUnknownThing(name);
    const above = run.parent_id === null ? undefined : this.#entries.get(run.parent_id);
    const stored = toStored({ ...run, tenant: run.tenant ?? above?.run.tenant });
    const steps = new Map(run.steps?.map(({ key, value }) => [key, value]));
    this.#entries.set(run.id, { run: stored, steps, events: [], signals: [] });
    this.#index?.add(stored);
    for (const thing of run.things ?? []) this.#shelf.put(thing);
    if (run.parent_id === null) return true;
    const beside = this.#children.get(run.parent_id) ?? new Set();
    this.#children.set(run.parent_id, beside.add(run.id));
    return true;
  }

  async recordRun(run: NewRun, end: Omit<RunFinish, "firstSeq">): Promise<boolean> {
    if (!(await this.createRun({ ...run, owner: RECORDED }))) return false;
    await this.finish(run.id, 1, { ...end, firstSeq: 0 });
    return true;
  }

  async createQueued(run: NewRun, place: NewPlace): Promise<"new" | "known" | "full"> {
    if (this.#entries.has(run.id)) return "known";
    if (this.#turns.isFull(place)) return "full";
    await this.createRun(run);
    this.#turns.add(run.id, place);
    return "new";
  }

  async awaitTurn(id: string, epoch: number, place: QueuePlace): Promise<boolean> {
    const { run } = this.#owned(id, epoch);
    const hasTurn = this.#turns.await(id, place, (other) => this.#isTakeable(other));
    if (!hasTurn) run.owner = null;
    return hasTurn;
  }

  async giveTurnBack(id: string, epoch: number): Promise<void> {
    this.#owned(id, epoch);
    this.#turns.giveBack(id);
  }

  async countWaiting(queue: string): Promise<number> {
    return this.#turns.countWaiting(queue, (other) => this.#isTakeable(other));
  }

  async takeTurn(
    owner: string,
    queue: Queue,
    journal = JOURNAL_VERSION,
  ): Promise<TakenTurn | undefined> {
    const isKnown = (other: string): boolean =>
      (this.#entries.get(other)?.run.journal ?? 0) <= journal;
    const id = this.#turns.take(queue, (other) => this.#isTakeable(other) && isKnown(other));
    const entry = id === undefined ? undefined : this.#entries.get(id);
    if (!entry) return undefined;
    entry.run.owner = owner;
    entry.run.journal = journal;
    const epoch = ++entry.run.epoch;
    entry.steps.set(TURN_KEY, epoch);
    return { id: entry.run.id, epoch };
  }

  async getRun(id: string): Promise<RunRecord | undefined> {
    const entry = this.#entries.get(id);
    return entry && { ...entry.run };
  }

  async getRunStatus(id: string): Promise<RunStatus | undefined> {
    return this.getRun(id);
  }

  async listRuns({ limit, status, parent_id, before, without }: RunQuery): Promise<RunRecord[]> {
    // The sort is stable, so reversing first puts the younger of two equals in front.
    const runs = [...this.#entries.values()].map(({ run }) => ({ ...run })).reverse();
    runs.sort((a, b) => b.created_at_ms - a.created_at_ms);
    const from = before === undefined ? 0 : runs.findIndex((run) => run.id === before) + 1;
    if (before !== undefined && from === 0) throw toUnknownRun(before);
    return runs
      .slice(from)
      .filter((run) => status === undefined || run.status === status)
      .filter((run) => parent_id === undefined || run.parent_id === parent_id)
      .filter((run) => without === undefined || run.name !== without)
      .slice(0, limit);
  }

  async listUnfinished(): Promise<UnfinishedRun[]> {
    const runs = [...this.#entries.values()].map(({ run }) => ({ ...run }));
    return runs
      .filter(({ status }) => status === "running")
      .sort((a, b) => a.created_at_ms - b.created_at_ms);
  }

  async claim(
    id: string,
    owner: string,
    from?: number,
    journal = JOURNAL_VERSION,
  ): Promise<number | undefined> {
    const entry = this.#entries.get(id);
    if (!entry) throw toUnknownRun(id);
    if (entry.run.status === "ended" || entry.run.journal > journal) return undefined;
    if (from !== undefined && entry.run.epoch !== from) return undefined;
    entry.run.owner = owner;
    entry.run.journal = journal;
    return ++entry.run.epoch;
  }

  async readSteps(id: string): Promise<Map<string, Json>> {
    return new Map(this.#entries.get(id)?.steps);
  }

  async saveStep(id: string, epoch: number, { key, value, last }: FinishedStep): Promise<void> {
    const entry = this.#owned(id, epoch, last?.firstSeq);
    if (entry.steps.has(key)) throw toRepeatedStep(id, key);
    if (last) this.#append(entry, last.events);
    entry.steps.set(key, value);
  }

  async append(
    id: string,
    epoch: number,
    firstSeq: number,
    events: readonly RunEvent[],
  ): Promise<void> {
    this.#append(this.#owned(id, epoch, firstSeq), events);
  }

  async readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]> {
    const first = Math.max(after + 1, 0);
    const events = this.#entries.get(id)?.events.slice(first, first + Math.max(limit, 0)) ?? [];
    return events.map((event, index) => ({ run_id: id, seq: first + index, event }));
  }

  async finish(id: string, epoch: number, end: RunFinish): Promise<void> {
    const entry = this.#owned(id, epoch, end.firstSeq);
    this.#append(entry, end.events);
    const { ending, result, at_ms, settles, starts = [] } = end;
    Object.assign(entry.run, { status: "ended", ending, result, ended_at_ms: at_ms });
    this.#index?.end(id, end);
    for (const thing of end.things ?? []) this.#shelf.put(thing);
    this.#turns.forget(id);
    for (const run of starts) {
      void this.createRun(run);
      this.#turns.add(run.id, run.place);
    }
    if (!settles) return;
    // Spending in memory has booked it when the call returns: no reader sees one without the other.
    await this.#spending?.settle(settles.keyId, settles.used, toSettling(id, settles));
  }

  async putSignal(id: string, signal: { topic: string; key: string; body: Json }): Promise<void> {
    const { topic, key, body } = signal;
    const entry = this.#entries.get(id);
    if (!entry) throw toUnknownRun(id);
    const known = entry.signals.some((other) => other.topic === topic && other.key === key);
    if (known) return;
    const waiting = entry.signals.filter((one) => one.topic === topic && !one.taken);
    checkWaiting(waiting.reduce((sum, one) => sum + countJsonChars(one.body), 0));
    entry.signals.push({ topic, key, body, taken: false });
  }

  async takeSignal(id: string, epoch: number, topic: string): Promise<Json | undefined> {
    const { signals, steps } = this.#owned(id, epoch);
    const onTopic = signals.filter((signal) => signal.topic === topic);
    const next = onTopic.find((signal) => !signal.taken);
    if (!next) return undefined;
    steps.set(takenKey(topic, onTopic.filter((signal) => signal.taken).length), next.body);
    next.taken = true;
    return next.body;
  }

  async takeSignals(
    id: string,
    epoch: number,
    { topic, key }: { topic: string; key: string },
  ): Promise<Json[]> {
    const { signals, steps } = this.#owned(id, epoch);
    const left = signals.filter((signal) => signal.topic === topic && !signal.taken);
    const bodies = left.map(({ body }) => body);
    if (left.length > 0) steps.set(key, bodies);
    for (const signal of left) signal.taken = true;
    return bodies;
  }

  async findSignals(owner: string, topic: string): Promise<FoundSignal[]> {
    const found: FoundSignal[] = [];
    for (const { run, signals } of this.#entries.values()) {
      if (run.owner !== owner || run.status === "ended") continue;
      const next = signals.find((signal) => signal.topic === topic && !signal.taken);
      if (next) found.push({ run_id: run.id, body: next.body });
    }
    return found;
  }

  async beat(worker: Worker): Promise<void> {
    this.#workers.set(worker.id, worker);
  }

  async getWorker(id: string): Promise<Worker | undefined> {
    return this.#workers.get(id);
  }

  workers(): readonly (Worker & { readonly runs: number })[] {
    const running = [...this.#entries.values()].filter(({ run }) => run.status === "running");
    return [...this.#workers.values()].map((worker) => {
      return { ...worker, runs: running.filter(({ run }) => run.owner === worker.id).length };
    });
  }

  lanes(): readonly LaneState[] {
    return this.#turns.lanes((id) => this.#entries.get(id)?.run.created_at_ms ?? 0);
  }

  async checkWritable(): Promise<void> {}

  async deleteRun(id: string): Promise<void> {
    const parent = this.#entries.get(id)?.run.parent_id ?? null;
    if (parent !== null) {
      const beside = this.#children.get(parent);
      beside?.delete(id);
      if (beside?.size === 0) this.#children.delete(parent);
    }
    this.#entries.delete(id);
    this.#index?.remove(id);
    this.#turns.forget(id);
  }

  async deleteTree(id: string): Promise<void> {
    const doomed = new Set([id]);
    // Iterating over a set also reaches what is added meanwhile, each entry once.
    for (const parent of doomed) {
      for (const child of this.#children.get(parent) ?? []) doomed.add(child);
    }
    for (const run of doomed) await this.deleteRun(run);
  }

  keepThings(shelf: ThingsOfRuns): void {
    this.#shelf = shelf;
  }

  keepSpending(spending: Pick<Spending, "settle">): void {
    this.#spending = spending;
  }

  async close(): Promise<void> {}

  #isTakeable(id: string): boolean {
    const run = this.#entries.get(id)?.run;
    return run !== undefined && run.owner === null && run.epoch > 0;
  }

  openIndex(): RunIndex {
    this.#index ??= this.#readIndex();
    return this.#index;
  }

  #readIndex(): MemoryIndex {
    const index = new MemoryIndex();
    for (const { run, events } of this.#entries.values()) {
      index.add(run);
      index.note(run.id, 0, events);
      if (run.ending) index.end(run.id, { ending: run.ending, at_ms: run.ended_at_ms ?? 0 });
    }
    return index;
  }

  #append({ run, events: log }: Entry, events: readonly RunEvent[]): void {
    this.#index?.note(run.id, log.length, events);
    for (const event of events) log.push(event);
    run.next_seq = log.length;
  }

  /** The entry, if this epoch may write to it. */
  #owned(id: string, epoch: number, firstSeq?: number): Entry {
    const entry = this.#entries.get(id);
    const refusal = toRefusal(entry?.run, { id, epoch, firstSeq });
    if (refusal || !entry) throw refusal;
    return entry;
  }
}
