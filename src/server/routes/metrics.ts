/** The route of the server's metrics, for Prometheus. */

import type { Route } from "../route.ts";
import { type Metric, renderMetrics } from "../watching/metrics.ts";

/** `collect` returns those of all worker processes. */
export function createMetricsRoutes(collect: () => Promise<readonly Metric[]>): Route[] {
  return [
    {
      method: "GET",
      path: "/metrics",
      summary: "The server's metrics in the text format of Prometheus",
      scope: "metrics",
      async handle() {
        const text = renderMetrics(await collect());
        return {
          kind: "bytes",
          type: "text/plain; version=0.0.4; charset=utf-8",
          chunks: once(text),
        };
      },
    },
  ];
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
