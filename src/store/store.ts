/**
 * Everything that an engine keeps its runs in, by nouns: the part that all code may read (`run-reader.ts`), and the
 * engine's own parts: journals, ownership, messages and queues. Outside `src/store` only `src/engine` may import these
 * four and this file (`test/architecture.test.ts`); other code has the engine, or the reader.
 *
 * Three implementations, memory, SQLite and Postgres, and one suite for each noun (`test/store/*-contract.ts`) that
 * all must pass.
 */

import type { Journal } from "./journal.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Ownership } from "./ownership.ts";
import type { RunReader } from "./run-reader.ts";
import type { NewThing, ThingName } from "./shelf.ts";
import type { Spending } from "./spending.ts";
import type { TurnStore } from "./turns.ts";

export interface Store extends RunReader, Journal, Ownership, Mailbox, TurnStore {
  /** Set if the database reports what other processes write; otherwise runs are polled. */
  readonly news?: StoreNews | undefined;
  /** Rejects with the reason if a run of ordinary size could not be stored now. */
  checkWritable(): Promise<void>;
  /** Called by a shelf that is not in the store's own file: where to store and find the things of runs. */
  keepThings?(shelf: ThingsOfRuns): void;
  /** Called with the spending that is not in the store's own file: where to book what runs have used. */
  keepSpending?(spending: Pick<Spending, "settle">): void;
  close(): Promise<void>;
}

export interface ThingsOfRuns {
  put(thing: NewThing): unknown;
  has(name: ThingName): boolean;
}

/** News of writes. It only makes readers faster: some may be lost, and the store has the same facts. */
export interface StoreNews {
  /** True while news arrives: then runs of others need not be polled as often. */
  readonly isLive: boolean;
  /**
   * Calls `ring` with each run that another process wrote to or left a message for; with undefined if that may be any
   * run. Until the returned function is called.
   */
  listen(ring: (id: string | undefined) => void): () => void;
}
