/** A run as it stands in the record, whichever engine keeps it. */

import type { Json } from "../base/json.ts";
import type { Ending } from "./run-events.ts";

export interface RunRecord {
  readonly id: string;
  readonly parent_id: string | null;
  readonly path: string;
  /** Which body runs it: the name given to `engine.define`. */
  readonly name: string;
  readonly input: Json;
  /** One line for a listing: the beginning of the prompt. */
  readonly title: string;
  readonly created_at_ms: number;
  /** The tenant of a server whose run it is; null for a run of the command line. */
  readonly tenant: string | null;
  readonly status: "running" | "ended";
  /** How many owners it has had: what an earlier one writes is refused. */
  readonly epoch: number;
  /** The process that has it, by a name of the engine's; null before one has it and while it waits for its turn. */
  readonly owner: string | null;
  readonly ending: Ending | null;
  readonly result: Json;
  readonly ended_at_ms: number | null;
  /** The number the next event gets. */
  readonly next_seq: number;
  /** The version of its journal (`src/store/journal-version.ts`): an older program does not go on with it. */
  readonly journal: number;
}

/** Without what it was given and gave, which may be megabytes: for who asks again and again. */
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
