/**
 * Writes runs down: their beginning, the results of their finished steps, their logs, their endings. The engine's own
 * part of a record.
 *
 * Every write names the epoch of its owner and is refused with `Failure("fenced")` when the run has a newer one.
 * Numbers come from the owner: an append that does not start right after the last event is a defect and is refused
 * with `Failure("internal")`.
 */

import type { Json } from "../base/json.ts";
import type { Ending, RunEvent } from "../protocol/run-events.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { NewThing, ThingName } from "./shelf.ts";
import type { Settlement } from "./spending.ts";

export interface Journal {
  /** Writes the run down before it does anything. False, and no change, when the id exists. */
  createRun(run: NewRun): Promise<boolean>;
  /**
   * Writes down a run that has ended already, its whole log in one transaction: no reader could know of it before. It
   * has no journal. False, and no change, when the id exists.
   */
  recordRun(run: NewRun, end: Omit<RunFinish, "firstSeq">): Promise<boolean>;
  /** The journal of the run: what its finished steps returned, by key. */
  readSteps(id: string): Promise<Map<string, Json>>;
  saveStep(id: string, epoch: number, step: FinishedStep): Promise<void>;
  /** Appends one batch, whole or not at all. `firstSeq` is the number of its first event. */
  append(id: string, epoch: number, firstSeq: number, events: readonly RunEvent[]): Promise<void>;
  /**
   * The last events, the ending and the result in one transaction, with the run's things for the shelf, what its key
   * pays for and the runs that begin because of it. Nothing can follow it.
   */
  finish(id: string, epoch: number, end: RunFinish): Promise<void>;
  /** Removes the run, its journal, log and blobs. */
  deleteRun(id: string): Promise<void>;
  /** Removes the run and every run below it, all or none; also those left by a parent that is gone. */
  deleteTree(id: string): Promise<void>;
}

export interface NewRun
  extends Pick<
    RunRecord,
    "id" | "parent_id" | "path" | "name" | "input" | "title" | "created_at_ms"
  > {
  /**
   * The tenant of the run: its storage counts for that tenant, and large values of it are worked on in that tenant's
   * turn. A child has its parent's tenant. No tenant when left out.
   */
  readonly tenant?: string | null | undefined;
  /** The owner from the beginning, with epoch 1; none when left out. */
  readonly owner?: string | null | undefined;
  /** The version of its journal; `JOURNAL_VERSION` when left out. */
  readonly journal?: number | undefined;
  /** Things to store on the shelf of the same record, in the same transaction. */
  readonly things?: readonly NewThing[] | undefined;
  /**
   * Things that must exist: if one was deleted, nothing is stored, and the call rejects with `not_found`. Not looked at
   * for a run that is there already, or that is stored after it has ended.
   */
  readonly needs?: readonly ThingName[] | undefined;
  /** What its journal has from the beginning: small values. */
  readonly steps?: readonly Pick<FinishedStep, "key" | "value">[] | undefined;
}

/** A run that waits in a queue from its beginning, without an owner: any process with room begins it. */
export interface NewQueuedRun extends NewRun {
  readonly owner: null;
  readonly place: { readonly queue: string; readonly lane: string };
}

/** A step as it is journaled, with its last events in the same transaction. */
export interface FinishedStep {
  readonly key: string;
  readonly value: Json;
  readonly last?: { readonly firstSeq: number; readonly events: readonly RunEvent[] } | undefined;
  /**
   * The kind of crash that the write survives; `power` when left out. It then also survives what the next such write
   * survives.
   */
  readonly survives?: "process" | "power" | undefined;
}

export interface RunFinish {
  readonly ending: Ending;
  readonly result: Json;
  readonly firstSeq: number;
  readonly events: readonly RunEvent[];
  readonly at_ms: number;
  /** Things to store on the shelf of the same record, in the same transaction. */
  readonly things?: readonly NewThing[] | undefined;
  /** The usage to book on a key of the same record, in the same transaction. Ends the run's hold, too. */
  readonly settles?: Settlement | undefined;
  /** Runs that begin because this one has ended, written down in the same transaction. */
  readonly starts?: readonly NewQueuedRun[] | undefined;
}
