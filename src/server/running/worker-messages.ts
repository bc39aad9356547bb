/** The messages between the processes of a server. */

import type { LimitReport, LimitStanding } from "../../store/vendor-limits.ts";
import type { Metric } from "../watching/metrics.ts";

export type FromWorker =
  /** The worker is ready for connections. */
  | { readonly type: "listen" }
  /** The worker has the connection that it was given. */
  | { readonly type: "accepted" }
  /** The worker takes no more connections. One that is on its way to it goes to another worker. */
  | { readonly type: "closed" }
  /** The worker answers requests. */
  | { readonly type: "ready"; readonly url: string }
  /** The worker asks for the metrics of all workers. */
  | { readonly type: "collect"; readonly id: number }
  /** The worker asks for one of this many places of a key. */
  | { readonly type: "take"; readonly id: number; readonly key: string; readonly limit: number }
  /** The worker gives a place back. */
  | { readonly type: "leave"; readonly key: string }
  /** What the worker has learned about vendors' limits, and how much it needs. */
  | {
      readonly type: "exchange";
      readonly id: number;
      readonly process: string;
      readonly reports: readonly LimitReport[];
    }
  /** The worker's own metrics, in answer to the question with this number. */
  | { readonly type: "metrics"; readonly id: number; readonly metrics: readonly Metric[] };

export type ToWorker =
  /** The port that connections come from. */
  | { readonly type: "listening"; readonly port: number }
  /** Sent together with a connection. */
  | { readonly type: "connection" }
  | { readonly type: "drain" }
  | { readonly type: "reload" }
  /** The record was found damaged. */
  | { readonly type: "damaged" }
  | { readonly type: "taken"; readonly id: number; readonly isTaken: boolean }
  /** The limits that hold for all workers. */
  | { readonly type: "exchanged"; readonly id: number; readonly all: readonly LimitStanding[] }
  /** Asks the worker for its own metrics. */
  | { readonly type: "measure"; readonly id: number }
  | { readonly type: "collected"; readonly id: number; readonly metrics: readonly Metric[] };
