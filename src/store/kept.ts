/**
 * Everything that is stored, as interfaces: their users know neither the database nor the path. Each part is opened when it is
 * first asked for, because most programs need one or two of them (`open-kept.ts` opens it).
 */

import type { Failure } from "../base/failure.ts";
import type { Audit } from "./audit.ts";
import type { ChunkStore } from "./chunk-store.ts";
import type { CopyOptions, StoreCopy } from "./copy/store-copy.ts";
import type { PlaceCount } from "./place-count.ts";
import type { RecordClock } from "./record-clock.ts";
import type { RecordState } from "./record-state.ts";
import type { RunIndex } from "./run-index.ts";
import type { RunReader } from "./run-reader.ts";
import type { Shelf } from "./shelf.ts";
import type { Spending } from "./spending.ts";
import type { Store } from "./store.ts";
import type { VendorLimits } from "./vendor-limits.ts";

export interface KeptRecord {
  /** Everything that is written of runs, to read. */
  record(): Promise<RunReader>;
  /** Queries over all runs: lists, costs, open questions. */
  index(): Promise<RunIndex>;
  /** The state of the record, for its operator. */
  state(): Promise<RecordState>;
  /** The runs for the engine, which alone writes them: only `openEngine` takes this part. */
  runs(): Promise<Store>;
  /** Books what runs have used on other spending than that of this record, if that is in memory. */
  bookWith?(spending: Pick<Spending, "settle">): void;
  shelf(): Promise<Shelf>;
  chunks(): Promise<ChunkStore>;
  spending(): Promise<Spending>;
  audit(): Promise<Audit>;
  /** The time that all processes of this record share. Rejects where the record does not answer. */
  clock(): Promise<RecordClock>;
  /** Undefined for the record of one machine: there the process that started the others counts. */
  places(): Promise<PlaceCount | undefined>;
  /** Undefined for the record of one machine, too. */
  limits(): Promise<VendorLimits | undefined>;
  /** Works without any of them being open. */
  readonly maintenance: Maintenance;
  /**
   * Writes waiting entries, then closes everything that was opened. Call it once; a store that was closed is closed.
   */
  close(): Promise<void>;
}

/** Maintains a record, also while a server uses it. */
export interface Maintenance {
  /** True if there is a record already. Creates none. */
  exists(): Promise<boolean>;
  /** Rejects with the reason if it cannot be read. Changes nothing. */
  probe(): Promise<void>;
  /** The version of the database that this process would use. */
  version(): Promise<string>;
  /** Rejects a damaged record with `store_failed`. False, without a check, if it is larger than `maxBytes`. */
  refuseDamaged(maxBytes: number): Promise<boolean>;
  /** Rejects with the reason if nothing can be written now: the user may not, there is no room, another has it locked. */
  checkWritable(): Promise<void>;
  /**
   * Checks a record of any size while this process and others use it. Resolves to what is wrong, as `store_failed`;
   * undefined if nothing is. Rejects if it could not check, and if `signal` ended it.
   */
  checkBeside(signal: AbortSignal): Promise<Failure | undefined>;
  /** Reads all of it: its structure, its indexes, and its references. */
  check(): Promise<StoreCheck>;
  /**
   * Writes a copy of one moment, while others continue. Returns its bytes. Rejects with `conflict` if the file exists.
   */
  backUp(target: string): Promise<number>;
  /** Gives free space back to the disk. Other writers wait meanwhile. In bytes. */
  vacuum(): Promise<{ readonly before: number; readonly after: number }>;
  /**
   * Brings the tables up to this version of the program, and vectors into the form that the database searches. The
   * next call continues what was interrupted.
   */
  migrate(): Promise<StoreMigration>;
  /**
   * Copies all of it to an empty Postgres database and compares the two. No other process may have it open meanwhile:
   * rejects with `store_busy`. After a crash the next call continues; the copy cannot be used before it is whole.
   */
  copyTo(target: string, options: CopyOptions): Promise<StoreCopy>;
}

export interface StoreMigration {
  /** The versions of the tables. */
  readonly from: number;
  readonly to: number;
  /** Left out if there is only one way. */
  readonly vectors?: VectorReport;
}

/** How the vectors of vector stores are searched: by the database, or in the memory of each process. */
export interface VectorReport {
  readonly search: "pgvector" | "memory";
  /** For people: with what, or why not by the database and what to do. */
  readonly detail: string;
}

export interface StoreCheck {
  /** The first problems, a line each; empty when nothing is wrong. */
  readonly problems: readonly string[];
  /** How many more there are. */
  readonly more_problems: number;
  readonly runs: number;
  readonly bytes: number;
  /** The part of `bytes` that `vacuum` would give back. */
  readonly free_bytes: number;
  /** Left out if there is only one way. */
  readonly vectors?: VectorReport;
}
