/** What a server keeps of its keys: who they are, what they have used, what they did. Beside the record of runs. */

import type { Audit } from "../../store/audit.ts";
import { openKept } from "../../store/open-kept.ts";
import type { PlaceCount } from "../../store/places.ts";
import type { RecordState } from "../../store/record-state.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Spending } from "../../store/spending.ts";
import type { VendorLimits } from "../../store/vendor-limits.ts";

export interface Books {
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  /** How the record is doing. */
  readonly state: RecordState;
  /** Counts for all machines that share the record; undefined where it is the record of one. */
  readonly places: PlaceCount | undefined;
  /** Likewise. */
  readonly limits: VendorLimits | undefined;
  /** Whether the record was looked through; a larger one was not (`startRecordCheck`). */
  readonly isChecked: boolean;
  close(): Promise<void>;
}

/**
 * A connection of its own: generations come and go, and keys stay. Rejects a damaged record of up to
 * `maxCheckedBytes`.
 */
export async function openBooks(
  store: string | undefined,
  maxCheckedBytes: number,
): Promise<Books> {
  const kept = await openKept(store);
  try {
    const isChecked = await kept.maintenance.refuseDamaged(maxCheckedBytes);
    const [shelf, spending] = [await kept.shelf(), await kept.spending()];
    const [audit, places, limits] = [await kept.audit(), await kept.places(), await kept.limits()];
    const given = { shelf, spending, audit, places, limits, state: await kept.state() };
    return { ...given, isChecked, close: () => kept.close() };
  } catch (thrown) {
    await kept.close();
    throw thrown;
  }
}
