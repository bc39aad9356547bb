/**
 * All that an engine keeps its runs in, by nouns: what everybody may read (`run-reader.ts`), and what is the
 * engine's own business: journals, ownership, messages and queues. Outside of `src/store` only `src/engine`
 * may import these four and this file (`test/architecture.test.ts`); everybody else has the engine, or the reader.
 *
 * Three implementations, memory, SQLite and Postgres, and one suite for each noun (`test/store/*-contract.ts`)
 * that all must pass.
 */

import type { Journal } from "./journal.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Ownership } from "./ownership.ts";
import type { RunReader } from "./run-reader.ts";
import type { NewThing } from "./shelf.ts";
import type { Spending } from "./spending.ts";
import type { TurnStore } from "./turns.ts";

export interface Store extends RunReader, Journal, Ownership, Mailbox, TurnStore {
  /** Where the database can tell of what other processes write; else they have to be looked at. */
  readonly news?: News | undefined;
  /** Rejects with the reason where a run of ordinary size could not be stored now. */
  checkWritable(): Promise<void>;
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
