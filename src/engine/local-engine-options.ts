/** The options of an engine of one process. */

import type { Clock } from "../base/clock.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { Worker } from "../store/ownership.ts";
import type { Store } from "../store/store.ts";
import type { Carrier } from "./carrier.ts";
import type { Observe } from "./hub.ts";
import type { MachineFacts } from "./worker.ts";

export interface LocalEngineOptions {
  readonly store: Store;
  readonly clock?: Clock | undefined;
  /** Unique among living processes; generated when left out. */
  readonly workerId?: string | undefined;
  /** True if another owner lives; checks its process and its last beat when left out. */
  readonly isAlive?: ((worker: Worker) => boolean) | undefined;
  readonly around?: MachineFacts | undefined;
  /** Executes its runs; it calls their bodies itself when left out. */
  readonly carrier?: Carrier | undefined;
  /** The newest version of journals that this program knows; another one for tests. */
  readonly journal?: number | undefined;
  /**
   * Called with each event that runs of this process write, in each run's order, once it is in the store. For a run
   * that is taken over it gets the beginning again. Must not throw.
   */
  readonly observe?: Observe | undefined;
  /** True if other parts use the store, too: `stop` leaves it open. */
  readonly isShared?: boolean | undefined;
}

/** How a run is begun here. */
export interface LaunchOptions {
  /** The epoch it had when it was read: if another process took it meanwhile, that process keeps it. */
  readonly from?: number | undefined;
  /** Set if this process owns it already, since this epoch. */
  readonly epoch?: number | undefined;
  readonly limitMs?: number | undefined;
  /** Set if this process has just written it down as its own: nothing of it has to be read. */
  readonly fresh?: RunRecord | undefined;
}
