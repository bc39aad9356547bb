import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Span } from "../../../src/delegation/telemetry/signals.ts";
import { currentTrace } from "../../../src/delegation/telemetry/trace-scope.ts";
import { createApp } from "../../../src/server/app.ts";
import { type Route, toJson } from "../../../src/server/route.ts";
import { openListener } from "../../../src/server/running/listener.ts";
import { createRegistry, renderMetrics } from "../../../src/server/watching/metrics.ts";
import type { RequestRecord } from "../../../src/server/watching/request-log.ts";
import { createRequestTracer } from "../../../src/server/watching/request-trace.ts";
import { createRequestWatch } from "../../../src/server/watching/request-watch.ts";
import { createManualClock } from "../../../src/testing/index.ts";
import { PATIENCE_MS } from "../../patience.ts";
import { ANYBODY, createOpenGuard } from "../server-fixture.ts";

describe("the watch over requests", () => {
  it("names the key of a request that is refused", async (t) => {
    const records: RequestRecord[] = [];
    const watch = createRequestWatch({
      clock: createManualClock(),
      registry: createRegistry(),
      tracer: undefined,
      worker: undefined,
      factsOf: () => undefined,
      log: () => (record) => void records.push(record),
    });
    const guard = watch.watchGuard({
      async admit(_request, _scope, about) {
        about?.onKey?.({ id: "key_1", tenant: "team" });
        throw new Failure("rate_limited", "Too much.");
      },
    });
    const route: Route = {
      method: "GET",
      path: "/things",
      summary: "",
      scope: "responses",
      handle: async () => toJson({}),
    };
    const app = createApp({
      routes: [route],
      guard,
      body: { maxBytes: 100, timeoutMs: PATIENCE_MS },
      send: { keepAliveMs: PATIENCE_MS, commitMs: PATIENCE_MS },
      onDefect: () => {},
    });
    const listener = await openListener({ host: "127.0.0.1", port: 0 }, watch.watchApp(app));
    t.after(() => listener.close());
    const headers = { connection: "close" };
    await (await fetch(`${listener.url}/things`, { headers })).text();
    const [line] = records;
    assert.deepEqual([line?.status, line?.tenant, line?.key_id], [429, "team", "key_1"]);
    assert.equal(line?.error, "rate_limited");
  });

  it("tells of each, with what only the inside knows, and gives it a span", async (t) => {
    const clock = createManualClock();
    const registry = createRegistry();
    const records: RequestRecord[] = [];
    const spans: Span[] = [];
    const tracer = createRequestTracer(
      { send: (span) => spans.push(span), isSampled: () => true, close: async () => {} },
      clock,
    );
    const facts = { model: "custom/x", input_tokens: 1, output_tokens: 2, cost_usd: null };
    const watch = createRequestWatch({
      clock,
      registry,
      tracer,
      worker: 7,
      log: () => (record) => void records.push(record),
      factsOf: (id) => (id === "resp_9" ? facts : undefined),
    });
    let inside: string | undefined;
    const route: Route = {
      method: "GET",
      path: "/things/:id",
      summary: "",
      scope: "responses",
      async handle({ params }) {
        inside = currentTrace()?.traceId;
        if (params["id"] === "bad") throw new Failure("invalid_request", "Bad.");
        clock.advance(20);
        return { ...toJson({}), headers: { "x-request-id": "resp_9" } };
      },
    };
    const app = createApp({
      routes: [route, { ...route, path: "/make" }],
      guard: watch.watchGuard(createOpenGuard({ ...ANYBODY, keyId: "key_1" })),
      body: { maxBytes: 100, timeoutMs: PATIENCE_MS },
      send: { keepAliveMs: PATIENCE_MS, commitMs: PATIENCE_MS },
      onDefect: () => {},
    });
    const listener = await openListener({ host: "127.0.0.1", port: 0 }, watch.watchApp(app));
    t.after(() => listener.close());
    for (const path of ["/make", "/things/bad", "/nowhere?secret=1"]) {
      await (await fetch(`${listener.url}${path}`, { headers: { connection: "close" } })).text();
    }
    const who = { tenant: ANYBODY.tenant, key_id: "key_1" };
    const told = records.map(({ time: _, trace_id: __, request_id: ___, ...record }) =>
      JSON.parse(JSON.stringify(record)),
    );
    const [made, ...others] = records.map(({ request_id }) => request_id ?? "");
    assert.equal(made, "resp_9");
    assert.ok(others.every((id) => id.startsWith("req_")));
    const client = "127.0.0.1";
    assert.deepEqual(told, [
      {
        method: "GET",
        route: "/make",
        status: 200,
        ms: 20,
        ...who,
        target: "resp_9",
        model: "custom/x",
        input_tokens: 1,
        output_tokens: 2,
        worker: 7,
        client,
      },
      {
        method: "GET",
        route: "/things/:id",
        status: 400,
        error: "invalid_request",
        ms: 0,
        ...who,
        target: "bad",
        worker: 7,
        client,
      },
      {
        ...{ method: "GET", route: "unknown", status: 404, error: "not_found", ms: 0 },
        ...{ worker: 7, client, path: "/nowhere" },
      },
    ]);
    const text = renderMetrics(registry.read());
    assert.match(text, /requests_total\{method="GET",route="\/things\/:id",status="400"\} 1\n/);
    assert.match(text, /offshoot_open_requests 0\n/);
    assert.deepEqual(
      spans.map(({ name, kind }) => [name, kind]),
      [
        ["GET /make", "server"],
        ["GET /things/:id", "server"],
        ["GET", "server"],
      ],
    );
    const owners = spans.map(({ attributes }) => [
      attributes["offshoot.tenant"],
      attributes["offshoot.key.id"],
    ]);
    assert.deepEqual(owners, [
      [ANYBODY.tenant, "key_1"],
      [ANYBODY.tenant, "key_1"],
      [undefined, undefined],
    ]);
    assert.equal(inside, spans[1]?.context.traceId);
    assert.equal(records[1]?.trace_id, spans[1]?.context.traceId);
  });
});
