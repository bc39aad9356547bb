/** Reports and counts workers that died; they cannot do so themselves. */

import { joinMetrics, type Metric } from "../watching/metrics.ts";

export interface Death {
  /** The worker's number among all workers that were started, and its process id. */
  readonly worker: number;
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly signal: string | null;
  /** The delay before another one starts in its place. */
  readonly pauseMs: number;
}

export interface WorkerDeaths {
  /** Remembers the last metrics of a worker, so that totals do not fall when it dies. */
  hear(worker: number, metrics: readonly Metric[]): void;
  /** Counts the death and returns the line for the operator. */
  add(death: Death): string;
  metrics(): readonly Metric[];
}

export function createWorkerDeaths(): WorkerDeaths {
  const last = new Map<number, readonly Metric[]>();
  let left: readonly Metric[] = [];
  let count = 0;
  return {
    hear: (worker, metrics) => void last.set(worker, metrics),
    add(death) {
      count++;
      // A gauge describes the present, and a dead worker has none.
      const totals = (last.get(death.worker) ?? []).filter(({ type }) => type !== "gauge");
      left = joinMetrics([left, totals]);
      last.delete(death.worker);
      return toLine(death);
    },
    metrics: () => [
      ...left,
      {
        name: "offshoot_worker_deaths_total",
        help: "Workers that ended without being told to.",
        type: "counter",
        samples: [{ labels: {}, value: count }],
      },
    ],
  };
}

function toLine({ worker, pid, code, signal, pauseMs }: Death): string {
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${code ?? "unknown"}`;
  const when = pauseMs === 0 ? "now" : `in ${pauseMs / 1000} s`;
  return `worker ${worker} (process ${pid ?? "unknown"}) ${how}; the other workers take over its runs, and a new worker starts ${when}`;
}
