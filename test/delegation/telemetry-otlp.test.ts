import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { openTelemetry } from "../../src/delegation/telemetry/open-telemetry.ts";
import type { Telemetry } from "../../src/delegation/telemetry/telemetry.ts";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { inTime, PATIENCE_MS } from "../patience.ts";
import { startCollector } from "./telemetry-collector.ts";
import { logOf, runEnd, runStart, turn } from "./telemetry-events.ts";
import { startTree, type Tree } from "./tree-fixture.ts";

const RUN = logOf("run_1", [runStart("run_1"), ...turn(), runEnd()]);

async function open(
  url: string,
  { env = {} as Record<string, string>, closeMs = PATIENCE_MS, lines = [] as string[] } = {},
): Promise<Telemetry> {
  const keep = (line: string): void => void lines.push(line);
  const telemetry = await openTelemetry(
    { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env },
    { version: "1.2.3", closeMs, log: { error: keep, warn: keep, info: keep, debug: keep } },
  );
  assert.ok(telemetry);
  return telemetry;
}

function observeAll(telemetry: Telemetry, logged: readonly LoggedEvent[]): void {
  for (const one of logged) telemetry.observe(one);
}

/** A run with one child that reads a file, as the engine really logs it. */
async function runTree(t: TestContext): Promise<LoggedEvent[]> {
  const tree = await startTree(
    t,
    respond(({ items }) => {
      const asked = items.findLast((item) => item.type === "message" && item.role === "user");
      const said = asked?.type === "message" ? asked.content : "";
      const hasOutput = items.some(({ type }) => type === "function_call_output");
      if (hasOutput) return reply.text("done");
      if (said !== "go") return reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }]);
      const input = { label: "helper", task_prompt: "Read a.txt." };
      return reply.calls([{ name: "subagent", arguments: JSON.stringify(input) }]);
    }),
    { files: { "a.txt": "a" } },
  );
  const { id } = await tree.run();
  return readTree(tree, id);
}

/** Parent and children in the order in which they were observed. */
async function readTree(tree: Tree, id: string): Promise<LoggedEvent[]> {
  const all: LoggedEvent[] = [];
  for await (const batch of tree.runtime.engine.follow(id, -1)) {
    for (const logged of batch) {
      all.push(logged);
      const { event } = logged;
      if (event.type === "child_start") all.push(...(await readTree(tree, event.child_id)));
    }
  }
  return all;
}

describe("telemetry over OTLP", () => {
  it("sends the spans of a real tree, each below the right one", async (t) => {
    await using collector = await startCollector();
    const telemetry = await open(collector.url);
    observeAll(telemetry, await runTree(t));
    await telemetry.close();

    const spans = collector.spans();
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const lineage = spans.map(({ name, parentSpanId }) => {
      const parent = parentSpanId === undefined ? "nothing" : byId.get(parentSpanId)?.name;
      return `${name} < ${parent}`;
    });
    assert.deepEqual(lineage.sort(), [
      "chat test < invoke_agent helper",
      "chat test < invoke_agent helper",
      "chat test < invoke_agent offshoot",
      "chat test < invoke_agent offshoot",
      "execute_tool read < invoke_agent helper",
      "execute_tool subagent < invoke_agent offshoot",
      "invoke_agent helper < execute_tool subagent",
      "invoke_agent offshoot < nothing",
    ]);
    assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
    assert.equal(byId.size, spans.length);
    assert.ok(!JSON.stringify(collector.received).includes("a.txt"), "arguments");
  });

  it("names the sender, in OTLP's own form", async () => {
    await using collector = await startCollector();
    const telemetry = await open(collector.url, {
      env: {
        OTEL_SERVICE_NAME: "mine",
        OTEL_RESOURCE_ATTRIBUTES: "team=a",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc",
      },
    });
    observeAll(telemetry, RUN);
    await telemetry.close();
    const sent = collector.received.find(({ path }) => path === "/v1/traces");
    assert.equal(sent?.headers["content-type"], "application/json");
    assert.equal(sent?.headers["authorization"], "Bearer abc");
    assert.match(String(sent?.headers["user-agent"]), /^offshoot\/1\.2\.3 /);
    const run = collector.spans().find(({ name }) => name === "invoke_agent offshoot");
    assert.equal(run?.resource["service.name"], "mine");
    assert.equal(run?.resource["service.version"], "1.2.3");
    assert.equal(run?.resource["team"], "a");
    assert.equal(run?.resource["telemetry.sdk.language"], "nodejs");
    assert.deepEqual([run?.scope.name, run?.scope.version], ["offshoot", "1.2.3"]);
    assert.match(run?.traceId ?? "", /^[0-9a-f]{32}$/);
    assert.match(run?.spanId ?? "", /^[0-9a-f]{16}$/);
    // 1 is internal, 3 is client.
    assert.equal(run?.kind, 1);
    assert.equal(collector.spans().find(({ name }) => name === "chat large")?.kind, 3);
    assert.equal(BigInt(run?.startTimeUnixNano ?? 0), 1_000_000_000n);
    assert.equal(BigInt(run?.endTimeUnixNano ?? 0), 6_000_000_000n);
  });

  it("marks what failed, and leaves the rest unmarked", async () => {
    await using collector = await startCollector();
    const telemetry = await open(collector.url);
    const error = { code: "provider_failed", message: "SECRET" } as const;
    const end = runEnd({ ending: "failed", message: "SECRET", error });
    observeAll(telemetry, logOf("run_1", [runStart("run_1"), ...turn(), end]));
    await telemetry.close();
    const status = (name: string) => collector.spans().find((span) => span.name === name)?.status;
    assert.equal(status("chat large")?.code, 0);
    assert.equal(status("invoke_agent offshoot")?.code, 2);
    assert.ok(!JSON.stringify(collector.received).includes("SECRET"));
  });

  it("sends tokens and durations as histograms with the conventions' buckets", async () => {
    await using collector = await startCollector();
    const telemetry = await open(collector.url);
    observeAll(telemetry, RUN);
    telemetry.count({ event: "depth_limit", label: "a", current_depth: 3, max_depth: 3 });
    telemetry.count({ event: "truncation", label: "a", original_size: 9, truncated_size: 4 });
    await telemetry.close();
    const tokens = collector.metric("gen_ai.client.token.usage");
    assert.equal(tokens?.unit, "{token}");
    const sums = tokens?.points.map(({ attributes, sum }) => [
      attributes["gen_ai.token.type"],
      sum,
    ]);
    assert.deepEqual(sums, [
      ["input", 100],
      ["output", 10],
    ]);
    assert.equal(tokens?.points[0]?.bounds.at(-1), 67_108_864);
    const durations = collector.metric("gen_ai.client.operation.duration");
    assert.equal(durations?.unit, "s");
    assert.deepEqual(
      durations?.points.map(({ attributes, count, sum }) => [
        attributes["gen_ai.operation.name"],
        count,
        sum,
      ]),
      [
        ["chat", 1, 1],
        ["invoke_agent", 1, 5],
      ],
    );
    const events = collector.metric("offshoot.subagent.events");
    assert.deepEqual(
      events?.points.map(({ attributes, value }) => [attributes["subagent.event"], value]),
      [
        ["depth_limit", 1],
        ["truncation", 1],
      ],
    );
  });

  it("continues another trace, and links to one", async () => {
    await using collector = await startCollector();
    const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const telemetry = await open(collector.url, { env: { TRACEPARENT } });
    observeAll(telemetry, RUN);
    const far = runStart("run_2", { depth: 1, label: "far" });
    observeAll(telemetry, logOf("run_2", [far, runEnd()]));
    await telemetry.close();
    const [near, apart] = ["offshoot", "far"].map((name) =>
      collector.spans().find((span) => span.name === `invoke_agent ${name}`),
    );
    assert.equal(near?.traceId, "0af7651916cd43dd8448eb211c80319c");
    assert.equal(near?.parentSpanId, "b7ad6b7169203331");
    assert.notEqual(apart?.traceId, "0af7651916cd43dd8448eb211c80319c");
    assert.deepEqual(
      apart?.links.map(({ traceId, spanId }) => [traceId, spanId]),
      [["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"]],
    );
  });

  it("sends no span of a trace that is not sampled, but counts it", async () => {
    await using collector = await startCollector();
    const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    const telemetry = await open(collector.url, { env: { TRACEPARENT } });
    observeAll(telemetry, RUN);
    await telemetry.close();
    assert.deepEqual(collector.spans(), []);
    assert.ok(collector.metric("gen_ai.client.token.usage"));
  });

  it("sends only the wanted kinds, compressed if that is asked for", async () => {
    await using collector = await startCollector();
    const telemetry = await open(collector.url, {
      env: { OTEL_METRICS_EXPORTER: "none", OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" },
    });
    observeAll(telemetry, RUN);
    await telemetry.close();
    assert.deepEqual([...new Set(collector.received.map(({ path }) => path))], ["/v1/traces"]);
    assert.equal(collector.received[0]?.headers["content-encoding"], "gzip");
    assert.equal(collector.spans().length, 2);
  });

  it("sends 300 runs in batches, none lost", async () => {
    await using collector = await startCollector();
    const telemetry = await open(collector.url);
    for (let at = 0; at < 300; at++) {
      observeAll(telemetry, logOf(`run_${at}`, [runStart(`run_${at}`), ...turn(), runEnd()]));
    }
    await telemetry.close();
    assert.equal(new Set(collector.spans().map(({ spanId }) => spanId)).size, 600);
  });
});

describe("a collector that does not work", () => {
  const observeAndClose = async (telemetry: Telemetry): Promise<void> => {
    observeAll(telemetry, RUN);
    await telemetry.close();
  };

  it("is not awaited when it is down, and is reported once", async () => {
    const gone = await startCollector();
    await gone[Symbol.asyncDispose]();
    const lines: string[] = [];
    const telemetry = await open(gone.url, { lines });
    await observeAndClose(telemetry);
    assert.equal(lines.filter((line) => line.startsWith("Could not send spans")).length, 1);
  });

  it("is awaited no longer than the limit when it never answers", async () => {
    await using collector = await startCollector(() => undefined);
    // On a busy machine the limit may pass before anything is sent, and then no request is abandoned.
    for (let closeMs = 100; collector.received.length === 0; closeMs *= 2) {
      await observeAndClose(await open(collector.url, { closeMs }));
    }
    await inTime(collector.abandoned, "the end of a connection that would keep a process alive");
  });

  for (const status of [400, 401, 500]) {
    it(`is not asked again when it answers ${status}`, async () => {
      await using collector = await startCollector(() => status);
      const lines: string[] = [];
      const telemetry = await open(collector.url, { lines });
      await observeAndClose(telemetry);
      const paths = collector.received.map(({ path }) => path);
      assert.deepEqual(paths.sort(), ["/v1/metrics", "/v1/traces"]);
      assert.ok(lines.some((line) => line.startsWith("Could not send")));
    });
  }

  it("is awaited no longer than the limit when it is busy for ever", async () => {
    await using collector = await startCollector(() => 503);
    await observeAndClose(await open(collector.url, { closeMs: 100 }));
  });

  it("whose host does not exist fails nothing", async () => {
    // Longer than a label may be, so that no name server is asked.
    await observeAndClose(await open(`http://${"a".repeat(64)}.example:4318`));
  });

  it("whose certificate cannot be read fails nothing, and is reported", async () => {
    const lines: string[] = [];
    const env = { OTEL_EXPORTER_OTLP_CERTIFICATE: "/nowhere/ca.pem" };
    const telemetry = await open("https://127.0.0.1:1", { lines, env });
    await observeAndClose(telemetry);
    assert.match(lines.join(), /nowhere/);
  });

  it("may be closed twice, and observe more after that", async () => {
    await using collector = await startCollector();
    const telemetry = await open(collector.url);
    observeAll(telemetry, RUN);
    await telemetry.close();
    observeAll(telemetry, logOf("run_2", [runStart("run_2"), ...turn(), runEnd()]));
    await telemetry.close();
    assert.equal(collector.spans().length, 2);
  });
});
