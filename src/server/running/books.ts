/** What a server keeps of its keys: who they are, what they have used, what they did. Beside the record of runs. */

import type { Audit } from "../../store/audit.ts";
import { openKept } from "../../store/open-kept.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Spending } from "../../store/spending.ts";

export interface Books {
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  close(): Promise<void>;
}

/** A connection of its own: generations come and go, and keys stay. Rejects a damaged record. */
export async function openBooks(store: string | undefined): Promise<Books> {
  const kept = await openKept(store);
  try {
    await kept.maintenance.refuseDamaged();
    const [shelf, spending] = [await kept.shelf(), await kept.spending()];
    return { shelf, spending, audit: await kept.audit(), close: () => kept.close() };
  } catch (thrown) {
    await kept.close();
    throw thrown;
  }
}
