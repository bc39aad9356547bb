/** What the processes of a server say to each other. */

import type { LimitReport, LimitStanding } from "../../store/vendor-limits.ts";
import type { Metric } from "../watching/metrics.ts";

export type FromWorker =
  /** It takes connections. */
  | { readonly type: "listen" }
  /** It has the connection that it was given. */
  | { readonly type: "accepted" }
  /** It answers. */
  | { readonly type: "ready"; readonly url: string }
  /** It wants to know the numbers of all. */
  | { readonly type: "collect"; readonly id: number }
  /** It wants one of so many places of a key. */
  | { readonly type: "take"; readonly id: number; readonly key: string; readonly limit: number }
  /** It gives one back. */
  | { readonly type: "leave"; readonly key: string }
  /** What it has learned of vendors' limits, and needs. */
  | {
      readonly type: "exchange";
      readonly id: number;
      readonly process: string;
      readonly reports: readonly LimitReport[];
    }
  /** Its own numbers, asked for under this number. */
  | { readonly type: "metrics"; readonly id: number; readonly metrics: readonly Metric[] };

export type ToWorker =
  /** Where its connections come from. */
  | { readonly type: "listening"; readonly port: number }
  /** A connection comes with it. */
  | { readonly type: "connection" }
  | { readonly type: "drain" }
  | { readonly type: "reload" }
  /** The record was found damaged. */
  | { readonly type: "damaged" }
  | { readonly type: "taken"; readonly id: number; readonly isTaken: boolean }
  /** What holds for all workers. */
  | { readonly type: "exchanged"; readonly id: number; readonly all: readonly LimitStanding[] }
  /** Asks for its own numbers. */
  | { readonly type: "measure"; readonly id: number }
  | { readonly type: "collected"; readonly id: number; readonly metrics: readonly Metric[] };
