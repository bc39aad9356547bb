import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SubagentEvent } from "../../src/delegation/subagent-events.ts";
import { openWatch } from "../../src/delegation/telemetry/open-watch.ts";
import { startCollector } from "./telemetry-collector.ts";
import { childStart, logOf, runStart } from "./telemetry-events.ts";

const EVENT: SubagentEvent = { event: "max_turns_exceeded", label: "a", depth: 1, max_turns: 2 };

describe("what watches runs", () => {
  for (const telemetryEnabled of [true, false]) {
    it(`${telemetryEnabled ? "logs and sends" : "writes and sends nothing"} with telemetry_enabled: ${telemetryEnabled}`, async () => {
      await using collector = await startCollector();
      const lines: string[] = [];
      const told: SubagentEvent[] = [];
      const keep = (line: string): void => void lines.push(line);
      const watch = await openWatch(
        { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
        {
          settings: { telemetryEnabled },
          version: "1",
          log: { error: keep, warn: keep, info: keep, debug: keep },
          observe: (event) => told.push(event),
        },
      );
      watch.tell(EVENT);
      await watch.close();
      assert.deepEqual(told, [EVENT]);
      assert.deepEqual(lines, telemetryEnabled ? ["Subagent exceeded max turns"] : []);
      const counted = collector.metric("offshoot.subagent.events")?.points[0]?.value;
      assert.equal(counted, telemetryEnabled ? 1 : undefined);
    });
  }

  it("does not observe the engine if no collector is named", async () => {
    const watch = await openWatch({}, { settings: { telemetryEnabled: true }, version: "1" });
    assert.equal(watch.observe, undefined);
    watch.tell(EVENT);
    assert.deepEqual(watch.environmentOf("run_1/a"), {});
    await watch.close();
  });

  it("has the variables for a child's process once its start was observed", async () => {
    await using collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const watch = await openWatch(env, { settings: { telemetryEnabled: true }, version: "1" });
    const log = [runStart("run_1"), childStart("run_1/a", "run_1/tool:1.0")];
    for (const logged of logOf("run_1", log)) watch.observe?.(logged);
    const { TRACEPARENT } = watch.environmentOf("run_1/a");
    assert.match(TRACEPARENT ?? "", /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    await watch.close();
  });
});
