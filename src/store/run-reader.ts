/**
 * Reading what is written of runs. The part of a record that everybody may have: it changes nothing, and what
 * it needs of the database is a read.
 */

import type { LoggedEvent } from "../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../protocol/run-record.ts";

export interface RunReader {
  getRun(id: string): Promise<RunRecord | undefined>;
  /** The run without what it was given and gave, which may be megabytes: for who asks again and again. */
  getRunStatus(id: string): Promise<RunStatus | undefined>;
  /** Newest first. */
  listRuns(query: RunQuery): Promise<RunRecord[]>;
  /** Every run that has not ended, oldest first, without what it holds: asked again and again. */
  listUnfinished(): Promise<UnfinishedRun[]>;
  /**
   * Events with a number greater than `after` (-1 for all), oldest first, at most about `limit`. Of large
   * events it gives fewer at once: only where it gives none are there no more (`read-log.ts` reads them all).
   */
  readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]>;
}

export type UnfinishedRun = Pick<
  RunRecord,
  "id" | "parent_id" | "name" | "owner" | "epoch" | "created_at_ms" | "journal"
>;
