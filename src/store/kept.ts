/**
 * What is kept, all behind interfaces: whoever uses it knows no database and no path. Each part is opened
 * when it is first asked for, because most programs need one or two of them (`open-kept.ts` opens it).
 */

import type { Failure } from "../base/failure.ts";
import type { Audit } from "./audit.ts";
import type { ChunkStore } from "./chunk-store.ts";
import type { CopyOptions, StoreCopy } from "./copy/store-copy.ts";
import type { PlaceCount } from "./places.ts";
import type { RecordState } from "./record-state.ts";
import type { RunIndex } from "./run-index.ts";
import type { RunReader } from "./run-reader.ts";
import type { Shelf } from "./shelf.ts";
import type { Spending } from "./spending.ts";
import type { Store } from "./store.ts";
import type { VendorLimits } from "./vendor-limits.ts";

export interface Kept {
  /** All that is written of runs, to read. */
  record(): Promise<RunReader>;
  /** What can be asked of all runs at once: lists, costs, open questions. */
  index(): Promise<RunIndex>;
  /** How it is doing, for whoever looks after it. */
  state(): Promise<RecordState>;
  /** The same for the engine, which alone writes it: `openEngine` takes it, and nobody else. */
  runs(): Promise<Store>;
  /** Books what runs have used on other spending than that of this record, where that is in memory. */
  bookWith?(spending: Pick<Spending, "settle">): void;
  shelf(): Promise<Shelf>;
  chunks(): Promise<ChunkStore>;
  spending(): Promise<Spending>;
  audit(): Promise<Audit>;
  /** Undefined for the record of one machine: there the process that started the others counts. */
  places(): Promise<PlaceCount | undefined>;
  /** Undefined likewise. */
  limits(): Promise<VendorLimits | undefined>;
  /** Needs none of them to be open. */
  readonly maintenance: Maintenance;
  /** Writes down what waits, then closes all that was opened. Once; a store that was closed is closed. */
  close(): Promise<void>;
}

/** Looking after a record, also while a server uses it. */
export interface Maintenance {
  /** Whether there is a record already. Makes none. */
  exists(): Promise<boolean>;
  /** Rejects with the reason where it cannot be read. Changes nothing. */
  probe(): Promise<void>;
  /** Of the database that this process would use. */
  version(): Promise<string>;
  /** Rejects a damaged one with `store_failed`. False, and nothing was looked at, where it is larger than `maxBytes`. */
  refuseDamaged(maxBytes: number): Promise<boolean>;
  /**
   * Looks through one of any size while this process and others go on with it. Gives what is wrong, as
   * `store_failed`; undefined where nothing is. Rejects where it could not, and where `signal` ended it.
   */
  checkBeside(signal: AbortSignal): Promise<Failure | undefined>;
  /** Reads all of it: its structure, its indexes, and what refers to what. */
  check(): Promise<StoreCheck>;
  /** Writes a copy as of one moment, while others go on. Returns its bytes. Rejects with `conflict` where the file exists. */
  backUp(target: string): Promise<number>;
  /** Gives free space back. Others wait meanwhile with their writes. In bytes. */
  vacuum(): Promise<{ readonly before: number; readonly after: number }>;
  /**
   * Brings the tables up to this version of the program, and vectors into the form that the database searches.
   * What was interrupted is gone on with by the next call.
   */
  migrate(): Promise<StoreMigration>;
  /**
   * Copies all of it to an empty Postgres database and compares the two. Nobody else may have it open meanwhile:
   * rejects with `store_busy`. After a crash the next call goes on; nobody can use the copy before it is whole.
   */
  copyTo(target: string, options: CopyOptions): Promise<StoreCopy>;
}

export interface StoreMigration {
  /** The versions of the tables. */
  readonly from: number;
  readonly to: number;
  /** Left out where there is one way alone. */
  readonly vectors?: VectorReport;
}

/** How the vectors of vector stores are searched: by the database, or in the memory of each process. */
export interface VectorReport {
  readonly search: "pgvector" | "memory";
  /** For people: with what, or why not by the database and what to do. */
  readonly detail: string;
}

export interface StoreCheck {
  /** The first of them, a line each; empty when nothing is wrong. */
  readonly problems: readonly string[];
  /** How many there are beside those. */
  readonly more_problems: number;
  readonly runs: number;
  readonly bytes: number;
  /** Of `bytes`, what `vacuum` would give back. */
  readonly free_bytes: number;
  /** Left out where there is one way alone. */
  readonly vectors?: VectorReport;
}
