/**
 * Reads the record of runs. All code may have this part of a record: it changes nothing, and needs only reads of the
 * database.
 */

import type { LoggedEvent } from "../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../protocol/run-record.ts";

export interface RunReader {
  getRun(id: string): Promise<RunRecord | undefined>;
  /** The run without its input and its result, which may be megabytes: for callers that ask again and again. */
  getRunStatus(id: string): Promise<RunStatus | undefined>;
  /** Newest first. */
  listRuns(query: RunQuery): Promise<RunRecord[]>;
  /** Every run that has not ended, oldest first, without its input: called again and again. */
  listUnfinished(): Promise<UnfinishedRun[]>;
  /**
   * Events with a number greater than `after` (-1 for all), oldest first, at most about `limit`. Returns fewer at once
   * if events are large: only an empty result means that there are no more (`read-log.ts` reads them all).
   */
  readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]>;
}

export type UnfinishedRun = Pick<
  RunRecord,
  "id" | "parent_id" | "name" | "owner" | "epoch" | "created_at_ms" | "journal"
>;
