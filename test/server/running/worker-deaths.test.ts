import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createWorkerDeaths } from "../../../src/server/running/worker-deaths.ts";
import { joinMetrics, renderMetrics } from "../../../src/server/watching/metrics.ts";

const metric = (name: string, type: "counter" | "gauge", value: number) => ({
  name,
  type,
  help: "Helps.",
  samples: [{ labels: {}, value }],
});

describe("workers that died", () => {
  it("are reported in one line: which one, how, and what happens next", () => {
    const deaths = createWorkerDeaths();
    const killed = { worker: 2, pid: 123, code: null, signal: "SIGKILL", pauseMs: 0 };
    assert.equal(
      deaths.add(killed),
      "worker 2 (process 123) was ended by SIGKILL; the other workers take over its runs, and a new worker starts now",
    );
    const failed = { worker: 3, pid: 124, code: 70, signal: null, pauseMs: 500 };
    assert.match(
      deaths.add(failed),
      /^worker 3 \(process 124\) ended with exit code 70;.* 0\.5 s$/,
    );
  });

  it("are counted, and their totals do not fall", () => {
    const deaths = createWorkerDeaths();
    const render = (): string =>
      renderMetrics(joinMetrics([[metric("asked_total", "counter", 2)], deaths.metrics()]));
    assert.match(render(), /^offshoot_worker_deaths_total 0$/m);
    deaths.hear(1, [metric("asked_total", "counter", 3)]);
    deaths.hear(1, [metric("asked_total", "counter", 5), metric("open", "gauge", 4)]);
    const exit = { pid: 1, code: null, signal: "SIGSEGV", pauseMs: 0 };
    deaths.add({ ...exit, worker: 1 });
    deaths.add({ ...exit, worker: 2 });
    assert.match(render(), /^offshoot_worker_deaths_total 2$/m);
    assert.match(render(), /^asked_total 7$/m);
    assert.doesNotMatch(render(), /^open /m);
  });
});
