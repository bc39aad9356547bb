/** Spending in a file that other processes write too: whoever can wait does, without holding the event loop. */

import { whenFree } from "../base/busy.ts";
import type { Spending } from "./spending.ts";

/** Only `hold` answers at once, or throws `store_busy`: its caller tries again with `whenFree`. */
export function waitForSpending(spending: Spending): Spending {
  return {
    ...spending,
    take: (...asked) => whenFree(() => spending.take(...asked)),
    settle: (...asked) => whenFree(() => spending.settle(...asked)),
    keepHolds: (...asked) => whenFree(() => spending.keepHolds(...asked)),
    dropHolds: (...asked) => whenFree(() => spending.dropHolds(...asked)),
    prune: (...asked) => whenFree(() => spending.prune(...asked)),
    forget: (...asked) => whenFree(() => spending.forget(...asked)),
  };
}
