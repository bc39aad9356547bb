/** What a process itself needs: memory, processor time, and how late its loop is. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Registry } from "./metrics.ts";

/** `worker` tells the processes apart: memory may be added up, being late may not. */
export function watchProcess(registry: Registry, worker: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const labels = { worker };
  registry.gauge("offshoot_event_loop_delay_seconds", "How late the event loop is.", () => {
    const shares = [0.5, 0.99].map((quantile) => ({
      labels: { ...labels, quantile: String(quantile) },
      value: delay.percentile(quantile * 100) / 1e9,
    }));
    // Each look tells of the time since the last one.
    delay.reset();
    return shares;
  });
  registry.gauge("offshoot_resident_memory_bytes", "Memory of the process.", () => [
    { labels, value: process.memoryUsage.rss() },
  ]);
  registry.gauge("offshoot_heap_used_bytes", "Memory of the process's objects.", () => [
    { labels, value: process.memoryUsage().heapUsed },
  ]);
  registry.gauge("offshoot_cpu_seconds", "Processor time of the process.", () => {
    const { user, system } = process.cpuUsage();
    return [{ labels, value: (user + system) / 1e6 }];
  });
  return () => delay.disable();
}
