/** The data of a server besides its runs: its keys, what they have used, what they did. */

import type { Audit } from "../../store/audit.ts";
import type { KeptRecord } from "../../store/kept.ts";
import { openKept } from "../../store/open-kept.ts";
import type { PlaceCount } from "../../store/place-count.ts";
import type { RecordClock } from "../../store/record-clock.ts";
import type { RecordState } from "../../store/record-state.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Spending } from "../../store/spending.ts";
import type { VendorLimits } from "../../store/vendor-limits.ts";

export interface Books {
  /** The record itself. The runtimes of this process use it, too, and do not close it. */
  readonly kept: KeptRecord;
  readonly shelf: Shelf;
  readonly spending: Spending;
  readonly audit: Audit;
  /** The time that all servers of this record share. */
  readonly clock: RecordClock;
  /** How the record is doing. */
  readonly state: RecordState;
  /**
   * Counts places for all machines that share the record; undefined if only one machine uses it.
   */
  readonly places: PlaceCount | undefined;
  /** Shares vendors' limits between machines; undefined if only one machine uses the record. */
  readonly limits: VendorLimits | undefined;
  /** True if the record was checked for damage. A larger one was not (`startRecordCheck`). */
  readonly isChecked: boolean;
  close(): Promise<void>;
}

/**
 * Opens the record for the whole process: generations come and go, and the record stays. Two connections to one SQLite
 * file would cost more than all queries of a response: whatever one of them writes empties the page cache of the other.
 * Rejects a damaged record of up to `maxCheckedBytes`.
 */
export async function openBooks(
  store: string | undefined,
  maxCheckedBytes: number,
): Promise<Books> {
  const kept = await openKept(store);
  try {
    const isChecked = await kept.maintenance.refuseDamaged(maxCheckedBytes);
    const shelf = await kept.shelf();
    const spending = await kept.spending();
    const audit = await kept.audit();
    const clock = await kept.clock();
    const places = await kept.places();
    const limits = await kept.limits();
    const given = {
      kept,
      shelf,
      spending,
      audit,
      clock,
      places,
      limits,
      state: await kept.state(),
    };
    return { ...given, isChecked, close: () => kept.close() };
  } catch (thrown) {
    await kept.close();
    throw thrown;
  }
}
