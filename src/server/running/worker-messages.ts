/** What the processes of a server say to each other. */

import type { Metric } from "../watching/metrics.ts";

export type FromWorker =
  /** It listens. */
  | { readonly type: "ready"; readonly url: string }
  /** It wants to know the numbers of all. */
  | { readonly type: "collect"; readonly id: number }
  /** Its own numbers, asked for under this number. */
  | { readonly type: "metrics"; readonly id: number; readonly metrics: readonly Metric[] };

export type ToWorker =
  | { readonly type: "drain" }
  | { readonly type: "reload" }
  /** Asks for its own numbers. */
  | { readonly type: "measure"; readonly id: number }
  | { readonly type: "collected"; readonly id: number; readonly metrics: readonly Metric[] };
