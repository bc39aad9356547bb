/**
 * The contract of what is kept: runs, their journals and their logs. Three implementations, memory, SQLite
 * and Postgres, and one suite (`test/store/store-contract.ts`) that all must pass.
 *
 * Every write names the epoch of the owner that makes it and is refused with `Failure("fenced")`
 * when the run has a newer one. Numbers come from the owner: an append that does not start right
 * after the last event is a defect and is refused with `Failure("internal")`.
 */

import type { Json } from "../base/json.ts";
import type { Ending, LoggedEvent, RunEvent } from "../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../protocol/run-record.ts";
import type { NewThing } from "./shelf.ts";
import type { Settlement, Spending } from "./spending.ts";
import type { TurnStore } from "./turns.ts";

export interface Store extends TurnStore {
  /** Where the database can tell of what other processes write; else they have to be looked at. */
  readonly news?: News | undefined;
  /** Writes the run down before anything of it happens. False, and no change, when the id exists. */
  createRun(run: NewRun): Promise<boolean>;
  getRun(id: string): Promise<RunRecord | undefined>;
  /** The run without what it was given and gave, which may be megabytes: for who asks again and again. */
  getRunStatus(id: string): Promise<RunStatus | undefined>;
  /** Newest first. */
  listRuns(query: RunQuery): Promise<RunRecord[]>;
  /** Every run that has not ended, oldest first, without what it holds: asked again and again. */
  listUnfinished(): Promise<UnfinishedRun[]>;
  /**
   * Makes `owner` the owner and returns the new epoch; undefined when the run has ended. With `from` it
   * is undefined, too, when the run has another epoch than that: of two who take over, one does.
   */
  claim(id: string, owner: string, from?: number): Promise<number | undefined>;

  /** The journal of the run: what its finished steps returned, by key. */
  readSteps(id: string): Promise<Map<string, Json>>;
  saveStep(id: string, epoch: number, step: FinishedStep): Promise<void>;

  /** Appends one batch, whole or not at all. `firstSeq` is the number of its first event. */
  append(id: string, epoch: number, firstSeq: number, events: readonly RunEvent[]): Promise<void>;
  /**
   * Events with a number greater than `after` (-1 for all), oldest first, at most about `limit`. Of large
   * events it gives fewer at once: only where it gives none are there no more (`read-log.ts` reads them all).
   */
  readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]>;

  /**
   * The last events, the ending and the result in one transaction, with what the run puts on the shelf and
   * what its key pays for. Nothing can follow it.
   */
  finish(id: string, epoch: number, end: RunFinish): Promise<void>;

  /** Leaves a message for a run; a second one with the same key is the same message. */
  putSignal(id: string, signal: { topic: string; key: string; body: Json }): Promise<void>;
  /**
   * The oldest message on a topic that was not taken yet. Journaled in the same transaction, under
   * `takenKey(topic, n)`, so that a crash right behind it does not lose the message.
   */
  takeSignal(id: string, epoch: number, topic: string): Promise<Json | undefined>;
  /**
   * All messages on a topic that were not taken yet, oldest first. Journaled as one list under `key` in
   * the same transaction. Where there is none, nothing is written.
   */
  takeSignals(id: string, epoch: number, from: { topic: string; key: string }): Promise<Json[]>;

  /** The runs of an owner that were left a message on a topic, with the oldest that is not taken. */
  findSignals(owner: string, topic: string): Promise<FoundSignal[]>;

  /** Says that a worker lives; an owner that has not said so for a while may be taken over. */
  beat(worker: Worker): Promise<void>;
  getWorker(id: string): Promise<Worker | undefined>;
  /** Rejects with the reason where a run of ordinary size could not be stored now. */
  checkWritable(): Promise<void>;

  /** Removes the run, its journal, log and blobs. */
  deleteRun(id: string): Promise<void>;
  /** Removes the run and every run below it, all or none; also those left by one that is gone. */
  deleteTree(id: string): Promise<void>;
  /** Called by a shelf that is not in the store's own file: where to put what runs bring along. */
  keepThings?(put: (thing: NewThing) => unknown): void;
  /** Called with the spending that is not in the store's own file: where to book what runs have used. */
  keepSpending?(spending: Pick<Spending, "settle">): void;
  close(): Promise<void>;
}

/** It only makes things faster: some of it may be lost, and whoever listens finds the same in the store. */
export interface News {
  /** Whether it is heard at the moment: then runs of others need not be looked at as often. */
  readonly isLive: boolean;
  /**
   * Calls `ring` with each run that another process wrote to or left a message for; with undefined where any
   * of them may have been. Until the returned function is called.
   */
  listen(ring: (id: string | undefined) => void): () => void;
}

export interface NewRun
  extends Pick<
    RunRecord,
    "id" | "parent_id" | "path" | "name" | "input" | "title" | "created_at_ms"
  > {
  /** Whose it is: whose storage it counts for, and in whose turn large values of it are worked on. A child is its parent's. Nobody's when left out. */
  readonly tenant?: string | null | undefined;
  /** Who owns it from the beginning, with epoch 1; nobody when left out. */
  readonly owner?: string | null | undefined;
  /** What is put on the shelf of the same record, in the same transaction. */
  readonly things?: readonly NewThing[] | undefined;
}

/** A step as it is journaled, with its last events in the same transaction. */
export interface FinishedStep {
  readonly key: string;
  readonly value: Json;
  readonly last?: { readonly firstSeq: number; readonly events: readonly RunEvent[] } | undefined;
  /** What it survives; `power` when left out. With the next write that survives that, it does too. */
  readonly survives?: "process" | "power" | undefined;
}

export type UnfinishedRun = Pick<
  RunRecord,
  "id" | "parent_id" | "name" | "owner" | "epoch" | "created_at_ms"
>;

export interface FoundSignal {
  readonly run_id: string;
  readonly body: Json;
}

export interface RunFinish {
  readonly ending: Ending;
  readonly result: Json;
  readonly firstSeq: number;
  readonly events: readonly RunEvent[];
  readonly at_ms: number;
  /** What is put on the shelf of the same record, in the same transaction. */
  readonly things?: readonly NewThing[] | undefined;
  /** What is booked on a key of the same record, in the same transaction. Ends the run's hold, too. */
  readonly settles?: Settlement | undefined;
}

/**
 * For how long a process may be silent before others take what it has. Ten beats missed: a busy machine delays some,
 * and a takeover by mistake repeats a step.
 */
export const LEASE_MS = 10_000;

export interface Worker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Within which `pid` and `beat_ms` mean something; empty where the system does not tell. */
  readonly boot: string;
  readonly pid_namespace: string;
  /** When the process started, in ticks since boot. */
  readonly started: string;
  /** The wall clock of its last beat, for people; 0 once it has said farewell. */
  readonly beat_at_ms: number;
  /** The same in monotonic time of its boot, which decides whether it lives. */
  readonly beat_ms: number;
  /** For how long it has said nothing, by the clock of the record; left out where the record has none. */
  readonly silent_ms?: number | undefined;
}
