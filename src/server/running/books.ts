/** What a server keeps of its keys: who they are, what they have used, what they did. Beside the record of runs. */

import { systemClock } from "../../base/clock.ts";
import { type Audit, createAudit, createMemoryAudit } from "../../store/audit.ts";
import { createMemoryShelf } from "../../store/memory/memory-shelf.ts";
import { createMemorySpending } from "../../store/memory/memory-spending.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Spending } from "../../store/spending.ts";
import { refuseDamaged } from "../../store/sqlite/maintenance.ts";
import { createSqliteSpending } from "../../store/sqlite/sqlite-spending.ts";
import { openSqliteStores } from "../../store/sqlite/sqlite-store.ts";

export interface Books {
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  close(): Promise<void>;
}

/** A connection of its own: generations come and go, and keys stay. Rejects a damaged file. */
export async function openBooks(storePath: string | undefined): Promise<Books> {
  if (storePath === undefined) {
    const audit = createMemoryAudit();
    const [shelf, spending] = [createMemoryShelf(), createMemorySpending()];
    return { shelf, spending, audit, close: () => audit.close() };
  }
  const { shelf, chunksDb, close } = await openSqliteStores(storePath);
  try {
    refuseDamaged(storePath, chunksDb);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const audit = createAudit(chunksDb, systemClock);
  return {
    ...{ shelf, audit, spending: createSqliteSpending(chunksDb) },
    async close() {
      await audit.close();
      await close();
    },
  };
}
