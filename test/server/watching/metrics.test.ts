import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createRegistry,
  joinMetrics,
  renderMetrics,
} from "../../../src/server/watching/metrics.ts";

describe("metrics", () => {
  it("are written as Prometheus reads them", () => {
    const registry = createRegistry();
    const requests = registry.counter("requests_total", "Requests.");
    requests.add({ route: "/a", status: "200" });
    requests.add({ route: "/a", status: "200" }, 2);
    requests.add({ route: 'quote " \\ and\nline', status: "400" });
    registry.gauge("open", "Open.", () => [{ labels: {}, value: 3.5 }]);
    const seconds = registry.histogram("seconds", "Time.", [0.1, 1]);
    for (const value of [0.05, 0.5, 5]) seconds.observe({ route: "/a" }, value);
    assert.equal(
      renderMetrics(registry.read()),
      [
        "# HELP requests_total Requests.",
        "# TYPE requests_total counter",
        'requests_total{route="/a",status="200"} 3',
        'requests_total{route="quote \\" \\\\ and\\nline",status="400"} 1',
        "# HELP open Open.",
        "# TYPE open gauge",
        "open 3.5",
        "# HELP seconds Time.",
        "# TYPE seconds histogram",
        'seconds_bucket{route="/a",le="0.1"} 1',
        'seconds_bucket{route="/a",le="1"} 2',
        'seconds_bucket{route="/a",le="+Inf"} 3',
        'seconds_sum{route="/a"} 5.55',
        'seconds_count{route="/a"} 3',
        "",
      ].join("\n"),
    );
  });

  it("of several processes are added up, except those that a label distinguishes", () => {
    const [first, second] = ["1", "2"].map((worker) => {
      const registry = createRegistry();
      registry.counter("total", "").add({ a: "x" }, Number(worker));
      registry.histogram("time", "", [1]).observe({}, Number(worker));
      registry.gauge("memory", "", () => [{ labels: { worker }, value: 7 }]);
      // As from another process.
      return JSON.parse(JSON.stringify(registry.read())) as ReturnType<typeof registry.read>;
    });
    const text = renderMetrics(joinMetrics([first ?? [], second ?? []]));
    assert.match(text, /^total\{a="x"\} 3$/m);
    assert.match(
      text,
      /^time_bucket\{le="1"\} 1\ntime_bucket\{le="\+Inf"\} 2\ntime_sum 3\ntime_count 2$/m,
    );
    assert.match(text, /^memory\{worker="1"\} 7\nmemory\{worker="2"\} 7$/m);
  });

  it("do not grow without end, whatever clients invent", () => {
    const registry = createRegistry();
    const counter = registry.counter("total", "");
    for (let at = 0; at < 5000; at++) counter.add({ route: String(at) });
    assert.equal(registry.read()[0]?.samples.length, 2000);
  });
});
