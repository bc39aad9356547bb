/** What a server keeps of its keys, opened by a command beside it: the keys, what they used, what they did. */

import { systemClock } from "../../base/clock.ts";
import type { Config } from "../../runtime/config/config.ts";
import type { KeyParts } from "../../server/guard/keys.ts";
import { type Audit, createAudit } from "../../store/audit.ts";
import type { Spending } from "../../store/spending.ts";
import { createSqliteSpending } from "../../store/sqlite/sqlite-spending.ts";

export interface OpenedBooks extends KeyParts {
  readonly spending: Spending;
  readonly audit: Audit;
  close(): Promise<void>;
}

export async function openBooks(config: Config): Promise<OpenedBooks> {
  const { openSqliteStores } = await import("../../store/sqlite/sqlite-store.ts");
  const stores = await openSqliteStores(config.get("store_path") ?? config.paths.runsFile);
  const { shelf, chunksDb, close } = stores;
  return {
    ...{ shelf, clock: systemClock, close },
    spending: createSqliteSpending(chunksDb),
    audit: createAudit(chunksDb),
  };
}
