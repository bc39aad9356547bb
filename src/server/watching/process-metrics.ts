/** The resources that a process itself needs: memory, processor time, and the delay of its event loop. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Registry } from "./metrics.ts";

/** `worker` identifies the process: memory may be added up over processes, delays may not. */
export function watchProcess(registry: Registry, worker: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const labels = { worker };
  registry.gauge("offshoot_event_loop_delay_seconds", "How late the event loop is.", () => {
    const shares = [0.5, 0.99].map((quantile) => ({
      labels: { ...labels, quantile: String(quantile) },
      value: delay.percentile(quantile * 100) / 1e9,
    }));
    // Each reading covers the time since the last one.
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
