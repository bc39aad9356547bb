/** A run as the record has it, whichever engine stores it. */

import type { Json } from "../base/json.ts";
import type { Ending } from "./run-events.ts";

export interface RunRecord {
  readonly id: string;
  readonly parent_id: string | null;
  readonly path: string;
  /** The body that runs it: the name given to `engine.define`. */
  readonly name: string;
  readonly input: Json;
  /** One line for a listing: the beginning of the prompt. */
  readonly title: string;
  readonly created_at_ms: number;
  /** The tenant of the server that owns the run; null for a run of the command line. */
  readonly tenant: string | null;
  readonly status: "running" | "ended";
  /** How many owners it has had. Writes of an earlier owner are refused. */
  readonly epoch: number;
  /**
   * The process that owns it, by a name of the engine; null before a process takes it and while it waits
   * for its turn.
   */
  readonly owner: string | null;
  readonly ending: Ending | null;
  readonly result: Json;
  readonly ended_at_ms: number | null;
  /** The number the next event gets. */
  readonly next_seq: number;
  /** The version of its journal (`src/store/journal-version.ts`): an older program does not continue it. */
  readonly journal: number;
}

/** A run without its input and result, which may be megabytes: for repeated reads. */
export type RunStatus = Omit<RunRecord, "input" | "result">;

export interface RunQuery {
  readonly limit: number;
  readonly status?: RunRecord["status"] | undefined;
  /** Only the children of this run; null for runs that have no parent. */
  readonly parent_id?: string | null | undefined;
  /** Leaves out the runs of this body. */
  readonly without?: string | undefined;
  /** Only runs older than this id. */
  readonly before?: string | undefined;
}
